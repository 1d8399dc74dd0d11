// One direction of one connection, driven as NCCL's proxy drives it: messages in the order of the
// slots, another try later when the plugin returns no request, and a test of the oldest request
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "cli/driver/slots.h"
#include "cli/plugin/net_plugin.h"

namespace dlcp::cli {

class Lane {
 public:
  enum class Way { kSend, kReceive };

  Lane(NetPlugin& net, void* comm, Way way, std::size_t slots, std::size_t slot_bytes)
      : net_(net), comm_(comm), way_(way), slots_(net, comm, slots, slot_bytes) {}

  Slots& slots() { return slots_; }
  const Slots& slots() const { return slots_; }
  std::uint64_t posted() const { return posted_; }  // messages since the start
  std::uint64_t done() const { return posted_ - requests_.size(); }
  std::size_t under_way() const { return requests_.size(); }

  // Posts the next message's slot. Returns false if the plugin takes nothing now. `phandle` and
  // `optional`: see NetPlugin.
  bool post(std::size_t bytes, void* phandle = nullptr, bool optional = false) {
    void* request = nullptr;
    if (way_ == Way::kSend)
      require(net_.isend(comm_, slots_.at(posted_), bytes, 0, slots_.mhandle(), &request, phandle),
              "isend");
    else
      require(net_.irecv(comm_, slots_.at(posted_), bytes, 0, slots_.mhandle(), optional, &request,
                         phandle),
              "irecv");
    if (request == nullptr) return false;
    requests_.push_back(request);
    posted_++;
    return true;
  }

  // The size of the oldest message in bytes if it is done.
  std::optional<int> test() {
    if (requests_.empty()) return std::nullopt;
    int done = 0;
    int bytes = 0;
    require(net_.test(requests_.front(), done, bytes),
            way_ == Way::kSend ? "test (send)" : "test (receive)");
    if (done == 0) return std::nullopt;
    requests_.pop_front();
    return bytes;
  }

 private:
  NetPlugin& net_;
  void* comm_;
  Way way_;
  Slots slots_;
  std::deque<void*> requests_;
  std::uint64_t posted_ = 0;
};

}  // namespace dlcp::cli
