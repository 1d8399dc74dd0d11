#include "core/packet_size/packet_size.h"

#include <algorithm>
#include <utility>

#include "core/liveness/probe_clock.h"
#include "wire/data/data_header.h"

namespace dlcp::core {
namespace {

// Interval of trials with larger sizes. A larger size is used after answers in two rounds, which
// take different paths.
constexpr Duration kGrowEvery = 300ms;

}  // namespace

void PacketSize::agree(std::uint32_t payload_bytes, std::size_t overhead) {
  overhead_ = static_cast<std::uint32_t>(overhead);
  sizes_[0] = payload_bytes;
  count_ = 1;
  now_ = 0;
  for (const std::uint32_t datagram : kCommonDatagrams) {
    const auto room = datagram - overhead_;
    const auto size = room - room % static_cast<std::uint32_t>(wire::kPayloadGranuleBytes);
    if (size < sizes_[count_ - 1]) sizes_[count_++] = size;
  }
}

bool PacketSize::on_fruitless(Time now) {
  if (answered_ == now_) {  // the size is not the reason
    rounds_ = 0;
    ++rounds_carried_;
  }
  // A single round may be lost for other reasons.
  if (rounds_ >= ProbeClock::kStalledAfter && answered_ != kNone) {
    now_ = answered_;
    answered_ = larger_ = larger_before_ = kNone;
    rounds_ = 0;
    questions_ = asked_ = 0;
    grow_at_ = now + kGrowEvery;
    return true;
  }
  if (rounds_ == 0) answered_ = kNone;
  ++rounds_;
  ask(now_, count_);
  round_[questions_++] = {now_, 0};  // the current size again: the decision depends most on it
  return false;
}

void PacketSize::on_timeout(Time now) {
  if (!shrunk() || now < grow_at_) return;
  grow_at_ = now + kGrowEvery;
  larger_before_ = std::exchange(larger_, kNone);
  ask(0, now_);
}

void PacketSize::ask(std::size_t from, std::size_t to) {
  questions_ = asked_ = 0;
  for (std::size_t size = from; size < to; ++size)
    round_[questions_++] = {size, 0};
}

std::optional<std::uint32_t> PacketSize::next_question() const {
  if (asked_ == questions_) return std::nullopt;
  return sizes_[round_[asked_].size];
}

void PacketSize::on_asked(std::uint32_t echo) {
  round_[asked_++].echo = echo;
}

bool PacketSize::on_answered(std::uint32_t echo) {
  for (std::size_t at = 0; at < asked_; ++at) {
    if (round_[at].echo != echo) continue;
    const std::size_t i = round_[at].size;
    if (i >= now_) {
      answered_ = std::min(answered_, i);
      return false;
    }
    larger_ = std::min(larger_, i);
    if (larger_before_ == kNone) return false;
    const std::size_t both = std::max(larger_, larger_before_);  // answered in both rounds
    return both < std::exchange(now_, std::min(now_, both));
  }
  return false;
}

}  // namespace dlcp::core
