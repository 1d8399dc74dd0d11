#include "engine/pump/outbox.h"

#include <algorithm>
#include <functional>

namespace dlcp::engine {

void Outbox::filled(std::size_t count) {
  first_ = 0;
  end_ = count;
}

std::span<const wire::TxPacket> Outbox::waiting() const {
  return {packets_.data() + first_, end_ - first_};
}

void Outbox::took(std::size_t count) {
  first_ += count;
  room_ = empty() ? std::min(room_ + kRoomGrowth, kPackets) : kRoomLeast;
  for (std::size_t i = first_; i < end_; ++i) {
    if (packets_[i].destination != &destinations_[i]) {
      destinations_[i] = *packets_[i].destination;
      packets_[i].destination = &destinations_[i];
    }
  }
}

void Outbox::drop_within(std::span<const std::byte> memory) {
  const std::less<const std::byte*> before;
  const std::byte* begin = memory.data();
  const std::byte* end = begin + memory.size();
  std::size_t kept = first_;
  for (std::size_t i = first_; i < end_; ++i) {
    const std::byte* payload = packets_[i].payload.data();
    if (!packets_[i].payload.empty() && !before(payload, begin) && before(payload, end)) continue;
    if (kept != i) {
      packets_[kept] = packets_[i];
      destinations_[kept] = *packets_[i].destination;
      packets_[kept].destination = &destinations_[kept];
    }
    ++kept;
  }
  end_ = kept;
}

}  // namespace dlcp::engine
