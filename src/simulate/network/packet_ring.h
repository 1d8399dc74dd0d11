// A first-in-first-out queue of packets that allocates memory only when a packet waits: a fabric
// has tens of thousands of queues, nearly all of them empty.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "simulate/network/packet.h"

namespace dlcp::simulate {

class PacketRing {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  const Packet& front() const { return *places_[head_]; }

  void push(PacketPtr packet) {
    if (count_ == places_.size()) grow();
    places_[(head_ + count_++) & (places_.size() - 1)] = std::move(packet);
  }
  PacketPtr pop() {
    PacketPtr packet = std::move(places_[head_]);
    head_ = (head_ + 1) & (places_.size() - 1);
    --count_;
    return packet;
  }

 private:
  static constexpr std::size_t kFirst = 8;  // a power of two, like all sizes

  void grow() {
    std::vector<PacketPtr> larger(places_.empty() ? kFirst : 2 * places_.size());
    for (std::size_t i = 0; i < count_; ++i)
      larger[i] = std::move(places_[(head_ + i) & (places_.size() - 1)]);
    places_ = std::move(larger);
    head_ = 0;
  }

  std::vector<PacketPtr> places_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace dlcp::simulate
