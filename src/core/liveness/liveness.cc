#include "core/liveness/liveness.h"

namespace dlcp::core {
namespace {

// Time in which a peer must answer after an ICMP error says that it is unreachable. The error alone
// proves nothing, because anyone can forge it.
constexpr Duration kProofTime = 30ms;
constexpr int kProofRounds = 3;

}  // namespace

void Liveness::expect(Time now, Owes owes) {
  if (owes_ == Owes::kNothing && owes != Owes::kNothing) heard_at_ = std::max(heard_at_, now);
  if (owes_ != Owes::kProgress && owes == Owes::kProgress)
    progress_at_ = std::max(progress_at_, now);
  if (owes == Owes::kNothing) gone_at_ = kNever;
  owes_ = owes;
}

bool Liveness::on_refused(Time now, Duration answer_time) {
  if (owes_ == Owes::kNothing || gone_at_ != kNever) return false;
  refused_at_ = now;
  gone_at_ = now + std::min(std::max(kProofTime, kProofRounds * answer_time), timeout_);
  return true;
}

void Liveness::on_pause(Time now, Duration length) {
  // Whatever is left of the time-out, the peer gets at least a quarter of it: it may have been
  // stopped as well, and continue a little later.
  const Time least = now - timeout_ * 3 / 4;
  const auto moved = [&](Time at) { return std::min(std::max(at + length, least), now); };
  heard_at_ = moved(heard_at_);
  progress_at_ = moved(progress_at_);
  gone_at_ = kNever;
}

Time Liveness::deadline() const {
  switch (owes_) {
    case Owes::kNothing:
      return kNever;
    case Owes::kWord:
      return std::min(heard_at_ + timeout_, gone_at_);
    case Owes::kProgress:
      break;
  }
  return std::min(std::min(heard_at_, progress_at_) + timeout_, gone_at_);
}

Liveness::Standing Liveness::standing(Time now) const {
  if (now < deadline()) return Standing::kAlive;
  if (now >= gone_at_) return Standing::kGone;
  return now - heard_at_ >= timeout_ ? Standing::kSilent : Standing::kStuck;
}

}  // namespace dlcp::core
