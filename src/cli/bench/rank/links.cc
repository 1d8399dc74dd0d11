#include "cli/bench/rank/links.h"

#include <sched.h>
#include <time.h>

#include <array>
#include <cstring>

#include "cli/bench/modes/modes.h"
#include "cli/launch/clock.h"

namespace dlcp::cli {
namespace {

// Called after a pass over the connections in which none has opened. A rank that waits for a late
// or lost host must not keep a processor busy until the time-out.
void rest_after(std::int64_t opened_at) {
  constexpr std::int64_t kPatienceNs = 10'000'000;
  constexpr timespec kNap{0, 1'000'000};
  if (now_ns() - opened_at < kPatienceNs)
    ::sched_yield();
  else
    ::nanosleep(&kNap, nullptr);
}

}  // namespace

int Links::device_of(const Wire& wire) const {
  return (first_device_ + wire.channel) % devices_;
}

std::string Links::listen(const std::vector<Wire>& wires) {
  std::string handles;
  std::vector<std::size_t> ordinals(static_cast<std::size_t>(control_.ranks()));
  for (std::size_t i = 0; i < wires.size(); i++) {
    const Wire& wire = wires[i];
    const std::size_t ordinal = ordinals[static_cast<std::size_t>(wire.destination)]++;
    if (wire.source != control_.rank() && wire.destination != control_.rank()) continue;
    links_.push_back({wire, i, ordinal});
    listens_.push_back(nullptr);
    if (wire.destination != control_.rank()) continue;
    std::array<char, nccl::kHandleBytes> handle{};
    require(net_.listen(device_of(wire), handle.data(), &listens_.back()), "listen");
    handles.append(handle.data(), handle.size());
  }
  return handles;
}

void Links::connect(const std::vector<std::string>& handles) {
  // NCCL passes the same memory to each call, so that a plugin may keep state in the handle.
  std::vector<std::array<char, nccl::kHandleBytes>> mine(links_.size());
  for (std::size_t i = 0; i < links_.size(); i++) {
    const Link& link = links_[i];
    if (!link.sends(control_.rank())) continue;
    const std::string& theirs = handles.at(static_cast<std::size_t>(link.wire.destination));
    if (theirs.size() < (link.ordinal + 1) * nccl::kHandleBytes)
      throw BenchError(ExitCode::kTransport,
                       "a rank opened fewer listeners than agreed; run the same dlcp on all "
                       "ranks");
    std::memcpy(mine[i].data(), theirs.data() + link.ordinal * nccl::kHandleBytes,
                nccl::kHandleBytes);
  }
  std::int64_t opened_at = now_ns();  // when the last connection opened
  for (std::size_t left = links_.size(); left > 0;) {
    for (std::size_t i = 0; i < links_.size(); i++) {
      Link& link = links_[i];
      if (link.comm != nullptr) continue;
      if (link.sends(control_.rank()))
        require(net_.connect(device_of(link.wire), mine[i].data(), &link.comm), "connect");
      else
        require(net_.accept(listens_[i], &link.comm), "accept");
      if (link.comm == nullptr) continue;
      left--;
      opened_at = now_ns();
      control_.shared().rank(control_.rank()).activity++;
    }
    control_.alive(0);
    if (left > 0) rest_after(opened_at);
  }
}

void Links::open(const BenchCase& bench_case) {
  require(net_.devices(devices_), "devices");
  if (devices_ < 1)
    throw BenchError(ExitCode::kTransport,
                     "the plugin reports no device; check NCCL_SOCKET_IFNAME and the plugin's "
                     "log (NCCL_DEBUG=INFO)");
  first_device_ = bench_case.device_by_rank ? control_.rank() : 0;
  const auto wires = traits_of(bench_case.mode).wires(bench_case);
  connect(control_.exchange(listen(wires)));
  for (void*& listen : listens_) {
    if (listen != nullptr) require(net_.close_listen(listen), "closeListen");
    listen = nullptr;
  }
}

void Links::close() {
  for (Link& link : links_) {
    if (link.comm == nullptr) continue;
    void* comm = link.comm;
    link.comm = nullptr;
    if (link.sends(control_.rank()))
      require(net_.close_send(comm), "closeSend");
    else
      require(net_.close_recv(comm), "closeRecv");
  }
  for (void*& listen : listens_) {
    if (listen != nullptr) require(net_.close_listen(listen), "closeListen");
    listen = nullptr;
  }
}

Link* Links::find(int source, int destination, int channel) {
  for (Link& link : links_)
    if (link.wire.source == source && link.wire.destination == destination &&
        link.wire.channel == channel)
      return &link;
  return nullptr;
}

}  // namespace dlcp::cli
