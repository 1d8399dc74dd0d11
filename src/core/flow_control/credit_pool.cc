#include "core/flow_control/credit_pool.h"

#include <algorithm>

namespace dlcp::core {
namespace {

// The reserves of many associations together stay near a quarter of the capacity times a logarithm
// of their number; the rest is for those that send. A transfer that may begin with only one
// packet would wait for its share for several RTTs, and in an all-to-all exchange every transfer
// begins. Therefore one share per turn is left for the next senders, and a sender that has finished
// is reduced to its reserve at once.
constexpr std::size_t kReserveShare = 4;
constexpr std::size_t kFew = 16;
// Packets in flight of an association that waits for its turn: enough to continue at once when the
// turn comes. With long messages turns change seldom, and many waiting senders would fill the
// path by themselves, cause ECN marks for the served ones, and slow them down until all are equal.
constexpr std::size_t kWaitingPackets = 4;
constexpr std::size_t kWaitingPacketsLong = 1;
constexpr std::size_t kLongPackets = 64;  // 256 KiB in 4 KiB packets

// Packets that the sender may have in flight, whether it has been told or not.
std::uint32_t promised(const Grant& grant) {
  return std::max(grant.window, grant.reserve);
}

}  // namespace

void CreditPool::set_committed(Grant& grant, std::uint32_t packets) {
  committed_ -= std::size_t{grant.committed} * grant.packet_bytes;
  grant.committed = packets;
  committed_ += std::size_t{grant.committed} * grant.packet_bytes;
}

void CreditPool::join(Grant& grant, std::uint32_t packet_bytes) {
  ++associations_;
  grant.packet_bytes = packet_bytes;
  const std::size_t share = capacity_ / kReserveShare / std::max(associations_, kFew);
  const std::size_t bytes = std::min(share, reserve_limit_);
  grant.reserve = static_cast<std::uint32_t>(std::max<std::size_t>(bytes / packet_bytes, 1));
  grant.window = grant.reserve;
  reserved_ += std::size_t{grant.reserve} * packet_bytes;
  set_committed(grant, grant.reserve);
}

void CreditPool::leave(Grant& grant) {
  if (grant.packet_bytes == 0) return;
  reclaim(grant);
  set_committed(grant, 0);
  reserved_ -= std::size_t{grant.reserve} * grant.packet_bytes;
  --associations_;
  grant = Grant{};
}

void CreditPool::on_data(Time now, Grant& grant, std::uint16_t epoch, std::size_t message_bytes) {
  newest_ = grant.heard = now;
  if (!grant.in_line) {
    grant.in_line = true;
    line_.push_back(&grant);
  }
  grant.in_long_message = message_bytes >= kLongPackets * grant.packet_bytes;
  grant.rests = false;
  if (!grant.active) {
    grant.active = true;
    ++active_;
  }
  if (epoch == grant.epoch && grant.committed != promised(grant))
    set_committed(grant, promised(grant));
}

void CreditPool::on_message_end(Grant& grant) {
  if (!grant.in_line) return;
  grant.in_line = false;
  std::erase(line_, &grant);
}

bool CreditPool::is_served(const Grant& grant) const {
  std::size_t before = 0;
  for (const Grant* other : line_) {
    if (other == &grant || before == kServed) break;
    if (newest_ - other->heard <= kSilent) ++before;
  }
  return before < kServed;
}

void CreditPool::refresh(Grant& grant) {
  std::size_t window = grant.reserve;
  const bool crowd = associations_ > kFew;
  grant.rests = crowd && grant.active && !grant.in_line;
  if (grant.active && !grant.rests) {
    const std::size_t shared = capacity_ - std::min(capacity_, reserved_);
    const std::size_t spare = crowd ? std::min(active_ - 1, kServed) : 0;
    const std::size_t share = shared / (active_ + spare) / grant.packet_bytes;
    const std::size_t unclaimed = capacity_ - std::min(capacity_, committed_);
    const std::size_t possible = grant.committed + unclaimed / grant.packet_bytes;
    window = std::max(std::min(grant.reserve + share, possible), std::size_t{grant.reserve});
    if (!is_served(grant))
      window = std::min(window, grant.in_long_message ? kWaitingPacketsLong : kWaitingPackets);
  }
  if (window == grant.window) return;
  grant.window = static_cast<std::uint32_t>(window);
  ++grant.epoch;
  if (promised(grant) > grant.committed) set_committed(grant, promised(grant));
}

void CreditPool::reclaim(Grant& grant) {
  if (!grant.active) return;
  on_message_end(grant);
  grant.active = grant.rests = false;
  --active_;
  grant.window = grant.reserve;
  ++grant.epoch;
  set_committed(grant, grant.reserve);
}

}  // namespace dlcp::core
