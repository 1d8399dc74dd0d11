#include "core/channel.h"

namespace dlcp::core {

std::optional<Counter> Channel::refuse_data(const wire::RxPacket& packet,
                                            const wire::DataHeader& header) {
  if (is_foreign(packet, peer_)) return Counter::kDroppedForeignHost;
  if (!wire::authentic(packet.bytes, incoming_)) return Counter::kDroppedUnauthentic;
  if (header.path >= data_.size()) data_.resize(header.path + std::size_t{1});
  ReplayWindow& seen = data_[header.path];
  if (!seen.accept(seen.expand(header.path_sequence))) return Counter::kDroppedReplayed;
  return std::nullopt;
}

std::optional<Counter> Channel::refuse_control(const wire::RxPacket& packet) {
  if (is_foreign(packet, peer_)) return Counter::kDroppedForeignHost;
  if (!wire::authentic(packet.bytes, incoming_.key)) return Counter::kDroppedUnauthentic;
  const std::uint64_t number = control_.expand(wire::control_sequence(packet.bytes));
  last_is_newest_ = number >= control_.next();
  if (!control_.accept(number)) return Counter::kDroppedReplayed;
  return std::nullopt;
}

}  // namespace dlcp::core
