// Copies of short messages of one sending connection. The request of a copied message is done at
// once, as with TCP, whose kernel has a copy then: the caller need not wait for the peer before it
// sends more, even if the peer's process waits for a processor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "core/endpoint_types.h"
#include "util/check.h"
#include "util/memory/ring_queue.h"
#include "util/time.h"

namespace dlcp::engine {

// Memory for the copies of all connections of a lane.
struct CopyMemory {
  std::size_t message_bytes_max = 0;  // longer messages are not copied; 0: none is
  std::size_t bytes_max = std::size_t{8} << 20;
  std::size_t bytes_used = 0;
  std::size_t messages = 0;
};

class Copies {
 public:
  struct Copy {
    core::RequestId name = 0;  // none of Connection's requests has this name
    std::unique_ptr<std::byte[]> data;
    std::size_t bytes = 0;
    Time sent_at{};
    std::span<const std::byte> memory() const { return {data.get(), bytes}; }
  };

  explicit Copies(CopyMemory& memory) : memory_(memory) {}
  ~Copies() { clear(); }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  bool takes(std::size_t bytes) const {
    return memory_.message_bytes_max > 0 && bytes <= memory_.message_bytes_max &&
           memory_.bytes_used + bytes <= memory_.bytes_max;
  }
  Copy make(Time now, std::span<const std::byte> message) const {
    auto data = std::make_unique_for_overwrite<std::byte[]>(message.size());
    std::ranges::copy(message, data.get());
    return {kFirstName + kept_, std::move(data), message.size(), now};
  }
  // The copy that was made last is being sent.
  void keep(Copy copy) {
    memory_.bytes_used += copy.bytes;
    ++memory_.messages;
    ++kept_;
    copies_.push_back(std::move(copy));
  }
  static bool is_name(core::RequestId name) { return name >= kFirstName; }
  // The oldest has arrived at the peer.
  Copy pop(core::RequestId name) {
    check(!copies_.empty() && copies_.front().name == name, "messages arrive in order");
    memory_.bytes_used -= copies_.front().bytes;
    --memory_.messages;
    Copy copy = std::move(copies_.front());
    copies_.pop_front();
    return copy;
  }
  void clear() {
    while (!copies_.empty())
      pop(copies_.front().name);
  }

  bool empty() const { return copies_.empty(); }
  std::size_t size() const { return copies_.size(); }
  const Copy& operator[](std::size_t index) const { return copies_[index]; }

 private:
  static constexpr core::RequestId kFirstName = core::RequestId{1} << 63;

  CopyMemory& memory_;
  core::RequestId kept_ = 0;
  RingQueue<Copy> copies_;  // in the order of sending
};

}  // namespace dlcp::engine
