#include "cli/bench/collnet_group.h"

#include <array>
#include <cstring>
#include <utility>

#include "cli/bench/bench_case.h"
#include "cli/bench/clock.h"

namespace dlcp::cli {

CollNetGroup::CollNetGroup(CollNetPlugin& plugin, Control& control, int device) : plugin_(plugin) {
  std::array<char, nccl::kHandleBytes> handle{};
  void* listening = nullptr;
  require(plugin_.listen(device, handle.data(), &listening), "collnet listen");
  auto theirs = control.exchange(std::string(handle.data(), handle.size()));
  std::vector<void*> handles;
  for (std::string& one : theirs) {
    if (one.size() != nccl::kHandleBytes)
      throw BenchError(ExitCode::kTransport, "a rank has no handle of its CollNet listener");
    handles.push_back(one.data());
  }
  const std::int64_t begin = now_ns();
  // A plugin that refuses has closed the listener: NCCL forgets it.
  require(plugin_.connect(handles, control.rank(), listening, &comm_), "collnet connect");
  connect_seconds_ = static_cast<double>(now_ns() - begin) * 1e-9;
  require(plugin_.close_listen(listening), "collnet closeListen");
  control.alive(0);
}

CollNetGroup::~CollNetGroup() {
  if (comm_ != nullptr) plugin_.close_coll(comm_);
}

void CollNetGroup::close() {
  require(plugin_.close_coll(std::exchange(comm_, nullptr)), "closeColl");
}

}  // namespace dlcp::cli
