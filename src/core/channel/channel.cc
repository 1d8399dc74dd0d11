#include "core/channel/channel.h"

#include <algorithm>

namespace dlcp::core {

std::optional<Counter> Channel::refuse_data(const wire::RxPacket& packet, wire::DataPacket& data,
                                            bool authentic) {
  const wire::DataHeader& header = data.header;
  if (is_foreign(packet, peer_)) return Counter::kDroppedForeignHost;
  if (!authentic || header.path >= data_.size()) return refuse_alone(packet, data);
  ReplayWindow& seen = data_[header.path];
  const std::uint64_t number = seen.expand(header.path_sequence);
  if ((number ^ together_) >> 32 != 0) [[unlikely]]  // the tag was checked for another number
    return refuse_alone(packet, data);
  if (!seen.accept(number)) return Counter::kDroppedReplayed;
  return std::nullopt;
}

// Not inlined: most packets do without it, and would save registers for it.
[[gnu::noinline]] std::optional<Counter> Channel::refuse_alone(const wire::RxPacket& packet,
                                                               wire::DataPacket& data) {
  const wire::DataHeader& header = data.header;
  const bool is_known_path = header.path < data_.size();
  const std::uint64_t number = wire::expand_serial(
      header.path_sequence, is_known_path ? data_[header.path].next() : std::uint64_t{0});
  if (!wire::authentic(packet.bytes, incoming_, number)) return Counter::kDroppedUnauthentic;
  if (!is_known_path) data_.resize(header.path + std::size_t{1});
  ReplayWindow& seen = data_[header.path];
  if (incoming_.protection == wire::Protection::kEncrypted) {
    if (seen.has(number)) return Counter::kDroppedReplayed;
    // If the payload cannot be opened, its number stays free for the genuine packet.
    if (!open_payload(packet.bytes, number, data)) return Counter::kDroppedUnauthentic;
  }
  if (!seen.accept(number)) return Counter::kDroppedReplayed;
  return std::nullopt;
}

std::size_t Channel::authentic_run(std::span<const wire::RxPacket> packets,
                                   const wire::DataHeader& first) {
  if (packets.size() < wire::kTagsTogether || is_foreign(packets.front(), peer_) ||
      first.path >= data_.size())
    return 0;
  const ReplayWindow& seen = data_[first.path];
  const std::uint64_t number = seen.expand(first.path_sequence);
  if (number < seen.next() || seen.has(number)) return 0;
  together_ = number;
  return wire::authentic_run(packets, incoming_, number);
}

void Channel::accept_run(const wire::DataHeader& first, std::size_t count) {
  ReplayWindow& seen = data_[first.path];
  seen.accept_run(seen.expand(first.path_sequence), count);
}

bool Channel::open_payload(std::span<const std::byte> datagram, std::uint64_t number,
                           wire::DataPacket& data) {
  if (data.payload.size() < wire::kCipherTagBytes) return false;
  if (cipher_ == nullptr) cipher_ = ciphers_->make(wire::payload_key(incoming_.key));
  if (cipher_ == nullptr) return false;
  plain_.resize(data.payload.size() - wire::kCipherTagBytes);
  if (!cipher_->open(wire::nonce_of(data.header.path, number), datagram.first(data.header.bytes()),
                     data.payload, plain_))
    return false;
  data.payload = plain_;
  return true;
}

void Channel::seal_payload(wire::PathIndex path, std::uint64_t number,
                           std::span<const std::byte> header_bytes,
                           std::span<const std::byte> payload, std::span<std::byte> out) {
  if (cipher_ == nullptr) cipher_ = ciphers_->make(wire::payload_key(sealing_));
  if (cipher_ == nullptr) {
    std::ranges::fill(out, std::byte{0});  // no peer accepts this packet: the connection times out
    return;
  }
  cipher_->seal(wire::nonce_of(path, number), header_bytes, payload, out);
}

std::optional<Counter> Channel::refuse_control(const wire::RxPacket& packet) {
  if (is_foreign(packet, peer_)) return Counter::kDroppedForeignHost;
  if (packet.bytes.size() < wire::kControlHeadBytes) return Counter::kDroppedUnauthentic;
  const std::uint64_t number = control_.expand(wire::control_sequence(packet.bytes));
  if (!wire::authentic(packet.bytes, incoming_.key, number)) return Counter::kDroppedUnauthentic;
  last_is_newest_ = number >= control_.next();
  if (!control_.accept(number)) return Counter::kDroppedReplayed;
  return std::nullopt;
}

}  // namespace dlcp::core
