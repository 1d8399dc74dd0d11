#include "byte_card.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace dlcp::test {
namespace {

constexpr std::size_t kTakenAtOneTimeMax = 7;  // for a narrow card
constexpr Duration kFetch = 40us;              // longer than a round trip

bool lies_in(std::span<const std::byte> payload, std::span<const std::byte> memory) {
  const std::less<const std::byte*> before;
  return !payload.empty() && !before(payload.data(), memory.data()) &&
         before(payload.data(), memory.data() + memory.size());
}

}  // namespace

wire::EndpointAddress byte_address(HostIndex host) {
  wire::EndpointAddress address;
  address.bytes[0] = static_cast<std::byte>(host + 1);
  address.size = 1;
  return address;
}

ByteCard::ByteCard(HostIndex host, const Time& now, const CardHabits& habits, Wire wire)
    : address_(byte_address(host)), now_(now), habits_(habits), wire_(std::move(wire)) {}

std::size_t ByteCard::send(std::span<const wire::TxPacket> packets) {
  if (std::exchange(counted_at_, now_) != now_) taken_ = 0;
  const std::size_t room = habits_.narrow ? kTakenAtOneTimeMax - taken_ : packets.size();
  const auto taken = packets.first(std::min(room, packets.size()));
  for (const wire::TxPacket& packet : taken) {
    // A control frame is in the payload, without a header, and its memory is reused soon: copy it.
    if (habits_.fetches && packet.header_bytes > 0)
      held_.push_back({now_ + kFetch, packet});
    else
      leave(packet);
  }
  taken_ += taken.size();
  return taken.size();
}

void ByteCard::leave(const wire::TxPacket& packet) {
  std::vector<std::byte> bytes;
  bytes.reserve(packet.header_bytes + packet.payload.size());
  bytes.assign(packet.header.begin(), packet.header.begin() + packet.header_bytes);
  bytes.insert(bytes.end(), packet.payload.begin(), packet.payload.end());
  wire_(std::move(bytes), packet.path);
}

std::size_t ByteCard::receive(Time now, std::span<wire::RxPacket> out) {
  for (; next_release() <= now; held_.pop_front())
    leave(held_.front().packet);
  handed_out_.clear();
  const std::size_t count = std::min(out.size(), arrived_.size());
  for (std::size_t i = 0; i < count; ++i) {
    handed_out_.push_back(std::move(arrived_.front()));
    arrived_.pop_front();
    const Datagram& datagram = handed_out_.back();
    out[i] = {
        .bytes = datagram.bytes, .arrived_at = datagram.due, .ecn = datagram.ecn, .source = {}};
  }
  return count;
}

bool ByteCard::reads(std::span<const std::byte> memory) {
  return std::ranges::any_of(
      held_, [&](const Held& held) { return lies_in(held.packet.payload, memory); });
}

void ByteCard::abandon(std::span<const std::byte> memory) {
  if (reads(memory)) held_.clear();
}

}  // namespace dlcp::test
