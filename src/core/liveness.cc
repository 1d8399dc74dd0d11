#include "core/liveness.h"

namespace dlcp::core {

void Liveness::expect(Time now, Owes owes) {
  if (owes_ == Owes::kNothing && owes != Owes::kNothing) heard_at_ = std::max(heard_at_, now);
  if (owes_ != Owes::kProgress && owes == Owes::kProgress)
    progress_at_ = std::max(progress_at_, now);
  owes_ = owes;
}

void Liveness::on_pause(Time now, Duration length) {
  // Whatever was left of the time-out, the peer gets a quarter of it to answer in: it may have been
  // stopped as we were, and wake a little later.
  const Time least = now - timeout_ * 3 / 4;
  const auto moved = [&](Time at) { return std::min(std::max(at + length, least), now); };
  heard_at_ = moved(heard_at_);
  progress_at_ = moved(progress_at_);
}

Time Liveness::deadline() const {
  switch (owes_) {
    case Owes::kNothing:
      return kNever;
    case Owes::kWord:
      return heard_at_ + timeout_;
    case Owes::kProgress:
      break;
  }
  return std::min(heard_at_, progress_at_) + timeout_;
}

Liveness::Verdict Liveness::verdict(Time now) const {
  if (now < deadline()) return Verdict::kAlive;
  return now - heard_at_ >= timeout_ ? Verdict::kSilent : Verdict::kStuck;
}

}  // namespace dlcp::core
