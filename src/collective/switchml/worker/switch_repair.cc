#include "collective/switchml/worker/switch_repair.h"

#include <algorithm>

namespace dlcp::collective {
namespace {

constexpr int kCreditPerAnswer = 2;
constexpr int kCreditMax = 64;
constexpr int kDoublingsMax = 16;

}  // namespace

void SwitchRepair::on_call() {
  std::ranges::fill(waiting_, Waiting{});
  order_.clear();
  evidence_ = {};
  credit_ = 0;
  begun_ = kNever;
  heard_ = probed_ = Time{};
  probes_ = 0;
  for (Shortest* const recent : {&trips_, &quiet_trips_}) {
    if ((*recent)[0] != Duration{0}) (*recent)[1] = (*recent)[0];
    (*recent)[0] = Duration{0};
  }
}

void SwitchRepair::on_sent(std::uint32_t slot, Time now) {
  Waiting& packet = waiting_[slot];
  packet.repeated = packet.transmission != 0;
  if (!packet.repeated) packet.first_sent = now;
  packet.transmission = ++transmissions_;
  packet.sent = now;
  order_.push_back({slot, transmissions_});
}

void SwitchRepair::on_answer(std::uint32_t slot, Time now, bool late) {
  const Waiting packet = waiting_[slot];
  waiting_[slot] = {};
  const Duration trip = shortest_trip();
  // An answer sooner than any round trip belongs to the transmission before the repeat.
  const bool needless = packet.repeated && trip != Duration{0} && now - packet.sent < trip;
  const bool of_last = !packet.repeated || (trip != Duration{0} && !needless);
  const bool begun = begun_ != kNever;
  if (begun && !packet.repeated) learn_silence(now - std::max(packet.sent, heard_));
  if (begun && needless) learn_silence(now - std::max(packet.first_sent, heard_));
  if (!packet.repeated && !late) learn_trip(packet, now);
  if (packet.repeated) learn_order(packet, now);
  if (of_last && packet.transmission > evidence_.transmission)
    evidence_ = {packet.transmission, now - packet.sent};
  credit_ = std::min(credit_ + kCreditPerAnswer, kCreditMax);
  begun_ = std::min(begun_, now);
  heard_ = now;
  probes_ = 0;
}

std::optional<std::uint32_t> SwitchRepair::due(Time now) {
  const Waiting* const packet = oldest();
  if (packet == nullptr) return std::nullopt;
  const std::uint32_t slot = order_.front().slot;
  if (now >= lost_at(*packet)) {
    waiting_[slot].expected = packet->sent + evidence_.trip;
    --credit_;
    return slot;
  }
  if (now >= probed_at(*packet)) {
    waiting_[slot].expected = kNever;
    ++probes_;
    probed_ = now;
    return slot;
  }
  return std::nullopt;
}

Time SwitchRepair::deadline() {
  const Waiting* const packet = oldest();
  return packet == nullptr ? kNever : std::min(lost_at(*packet), probed_at(*packet));
}

// Packets that were answered or sent again since are removed from the list here.
const SwitchRepair::Waiting* SwitchRepair::oldest() {
  while (!order_.empty() &&
         waiting_[order_.front().slot].transmission != order_.front().transmission)
    order_.pop_front();
  return order_.empty() ? nullptr : &waiting_[order_.front().slot];
}

Time SwitchRepair::lost_at(const Waiting& packet) const {
  if (packet.transmission > evidence_.transmission || credit_ <= 0) return kNever;
  return packet.sent + evidence_.trip + allowance();
}

// The first repeat does not double the timeout, because a single loss does not justify a slower
// rate.
Time SwitchRepair::probed_at(const Waiting& packet) const {
  const Duration wait = silence(packet);
  const int doublings = std::clamp(probes_ - 1, 0, kDoublingsMax);
  const Duration backed_off = std::min(wait * (1 << doublings), std::max(kLongestBackOff, wait));
  return std::max({packet.sent, heard_, probed_}) + backed_off;
}

Duration SwitchRepair::silence(const Waiting& packet) const {
  if (mean_ == Duration{0}) return guess_;
  const Duration usual =
      std::max({mean_ + 4 * deviation_, 2 * mean_, 2 * shortest_of(quiet_trips_)});
  if (begun_ == kNever) return std::max(usual, guess_);
  return std::max(usual, (heard_ - std::max(packet.sent, begun_)) / 8);
}

Duration SwitchRepair::allowance() const {
  const Duration trip = shortest_trip();
  return std::max((trip == Duration{0} ? guess_ : trip) / 4, reordered_);
}

Duration SwitchRepair::shortest_of(const Shortest& recent) {
  if (recent[0] == Duration{0} || recent[1] == Duration{0}) return std::max(recent[0], recent[1]);
  return std::min(recent[0], recent[1]);
}

// The estimator of RFC 6298 for round trips, applied to silence.
void SwitchRepair::learn_silence(Duration sample) {
  sample = std::clamp(sample, Duration(1), Duration(10s));
  if (mean_ == Duration{0}) {
    mean_ = sample;
    deviation_ = sample / 2;
    return;
  }
  const Duration off = sample > mean_ ? sample - mean_ : mean_ - sample;
  deviation_ += (off - deviation_) / 4;
  mean_ = std::max(mean_ + (sample - mean_) / 8, Duration(1));
}

void SwitchRepair::learn_trip(const Waiting& packet, Time now) {
  const Duration trip = std::clamp(now - packet.sent, Duration(1), Duration(10s));
  const auto shorten = [trip](Duration& shortest) {
    shortest = shortest == Duration{0} ? trip : std::min(shortest, trip);
  };
  shorten(trips_[0]);
  if (packet.sent >= heard_) shorten(quiet_trips_[0]);
}

// A packet that was considered lost but arrived was later than the allowance, which grows. A packet
// that was really lost reduces the allowance.
void SwitchRepair::learn_order(const Waiting& packet, Time now) {
  if (packet.expected == kNever) return;
  if (now - packet.sent >= shortest_trip() / 2) {
    reordered_ -= reordered_ / 8;
    return;
  }
  const Duration late = now - packet.expected;
  reordered_ =
      std::clamp(late + late / 4, reordered_, std::max(reordered_, Duration(kLongestBackOff)));
}

}  // namespace dlcp::collective
