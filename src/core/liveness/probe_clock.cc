#include "core/liveness/probe_clock.h"

#include <algorithm>
#include <utility>

namespace dlcp::core {
namespace {

constexpr Duration kFirstPauseMin = 100us;
constexpr Duration kPauseMin = 1ms;
constexpr Duration kPauseMax = 200ms;
constexpr unsigned kEarlyRepairs = 8;  // at 1% loss one packet in 10^16 is lost as often
constexpr unsigned kTogether = 4;      // probes at a time; each miss doubles up to this

}  // namespace

// Each round without an answer doubles the pause, because answers may wait for a busy host.
Duration ProbeClock::seldom(const Terms& terms) const {
  Duration pause = terms.seldom;
  for (unsigned i = 1; i < unanswered_ && pause < longest_silent_pause_; ++i)
    pause = std::min(2 * pause, longest_silent_pause_);
  return pause;
}

// While something may be lost, the first probes follow each other quickly: if part of the fabric
// has failed, probes or their answers may have taken that part.
Duration ProbeClock::pause(const Terms& terms) const {
  const Duration first = std::min(std::max(terms.answer_time, kPauseMin), longest_pause_);
  const Duration most = std::min(terms.outstanding ? kPauseMax : seldom(terms), longest_pause_);
  Duration pause = first;
  for (unsigned i = terms.outstanding ? kStalledAfter : 0; i < fruitless_ && pause < most; ++i)
    pause *= 2;
  return std::min(pause, std::max(most, first));
}

void ProbeClock::plan(Time now, const Terms& terms) {
  outstanding_ = terms.outstanding;
  // Three early probes, each after twice the pause. An answer without news means that packets are
  // slow, not that a path is dead.
  const bool in_doubt = asked_early_ == 0 || (asked_ > 0 && asked_early_ < kStalledAfter);
  early_ = in_doubt && (terms.outstanding || terms.held) && fruitless_ == 0 &&
           terms.answer_time < kPauseMin;
  const Duration first = std::max(terms.answer_time, kFirstPauseMin);
  const Duration usual = pause(terms);
  at_ = now + (early_ ? std::min(first * (std::int64_t{1} << asked_early_), usual) : usual);
}

void ProbeClock::on_repair(Time now, const Terms& terms) {
  if (++repairs_ > kEarlyRepairs) return;
  const Time planned = at_;
  const bool early = early_;
  asked_early_ = 0;
  plan(now, terms);
  if (planned >= at_) return;
  at_ = planned;
  early_ = early;
}

void ProbeClock::run(Time now, const Terms& terms) {
  // Another stream may have waited for its receive until now, with long pauses.
  const bool begins = terms.outstanding && !outstanding_;
  if (begins) fruitless_ = asked_early_ = 0;
  if (begins || at_ == kNever) plan(now, terms);
}

bool ProbeClock::on_timeout(Time now, const Terms& terms) {
  if (now < at_) return false;
  if (due_ > 0) {  // the last ones could not be sent yet
    plan(now, terms);
    return false;
  }
  ++asked_;
  if (std::exchange(early_, false)) {
    due_ = std::min(2u << asked_early_++, kTogether);  // not only one: its path may be dead
  } else {
    due_ = std::min(1u << std::min(unanswered_, kTogether), kTogether);
    ++unanswered_;
    ++fruitless_;
  }
  plan(now, terms);
  return true;
}

}  // namespace dlcp::core
