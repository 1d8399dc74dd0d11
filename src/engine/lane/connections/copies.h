// Copies of short messages of one sending connection. The request of a copied message is done at
// once, as with TCP: the caller need not wait for the peer before it sends more, even if the peer's
// process waits for a processor. TCP's kernel delivers its copy after the process has ended; these
// copies end with the process, so its end waits for them (Engine::linger, LastDelivery).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/endpoint_types.h"
#include "util/memory/ring_queue.h"
#include "util/time.h"

namespace dlcp::engine {

// Memory for the copies of all connections of a lane.
struct CopyMemory {
  std::size_t message_bytes_max = 0;  // longer messages are not copied; 0: no message is
  std::size_t bytes_max = std::size_t{8} << 20;
  std::size_t bytes_used = 0;
  std::atomic<std::size_t>* undelivered = nullptr;  // number of copies, with those of other lanes
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
  // A copy that is kept until take(), clear(), or drop_last(), which undoes the last call.
  const Copy& add(Time now, std::span<const std::byte> message) {
    auto data = std::make_unique_for_overwrite<std::byte[]>(message.size());
    std::ranges::copy(message, data.get());
    const Copy& copy =
        copies_.push_back({kFirstName + kept_, std::move(data), message.size(), now});
    ++kept_;
    count(copy.bytes);
    return copy;
  }
  void drop_last() {
    uncount(copies_.back().bytes);
    copies_.pop_back();
    --kept_;
  }
  static bool is_name(core::RequestId name) { return name >= kFirstName; }
  // The copy of that name has arrived at the peer; copies arrive in any order. nullopt: clear() has
  // freed it.
  std::optional<Copy> take(core::RequestId name) {
    const std::size_t index = copies_.empty() ? 0 : name - copies_.front().name;
    if (index >= copies_.size() || copies_[index].data == nullptr) return std::nullopt;
    uncount(copies_[index].bytes);
    Copy copy = std::move(copies_[index]);
    while (!copies_.empty() && copies_.front().data == nullptr)
      copies_.pop_front();
    return copy;
  }
  void clear() {
    while (!copies_.empty())
      take(copies_.front().name);
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < copies_.size(); ++i)
      if (copies_[i].data != nullptr) visit(copies_[i]);
  }
  bool empty() const { return copies_.empty(); }

 private:
  static constexpr core::RequestId kFirstName = core::RequestId{1} << 63;

  void count(std::size_t bytes) {
    memory_.bytes_used += bytes;
    if (memory_.undelivered != nullptr) ++*memory_.undelivered;
  }
  void uncount(std::size_t bytes) {
    memory_.bytes_used -= bytes;
    if (memory_.undelivered != nullptr) --*memory_.undelivered;
  }

  CopyMemory& memory_;
  core::RequestId kept_ = 0;
  RingQueue<Copy> copies_;  // in the order of sending; those that have arrived are without data
};

}  // namespace dlcp::engine
