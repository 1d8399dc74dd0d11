#include "core/liveness/probe_clock.h"

#include <algorithm>
#include <utility>

namespace dlcp::core {
namespace {

constexpr Duration kFirstPauseMin = 100us;
constexpr Duration kPauseMin = 1ms;
constexpr Duration kPauseMax = 200ms;
// Early questions, each after twice the pause, all of them before the first that counts. At least
// two at a time, so that one dead path does not swallow the word of all.
constexpr unsigned kEarly = 3;
constexpr unsigned kEarlyTogether = 2;
constexpr unsigned kEarlyRepairs = 8;  // of 1% of all packets one in 10^16 is lost as often
constexpr unsigned kTogether = 4;      // questions at a time; each miss doubles up to here
constexpr unsigned kDoublingsMax = 12;

}  // namespace

// While something may be lost the first questions follow each other quickly: where a part of the
// fabric has died they, or their answers, may have gone that way.
Duration ProbeClock::pause(const Terms& terms) const {
  const Duration first = std::min(std::max(terms.answer_time, kPauseMin), longest_pause_);
  const Duration most = std::min(terms.outstanding ? kPauseMax : terms.seldom, longest_pause_);
  const unsigned quick = terms.outstanding ? kStalledAfter : 0;
  const unsigned doublings = std::min(std::max(fruitless_, quick) - quick, kDoublingsMax);
  return std::min(first * (std::int64_t{1} << doublings), std::max(most, first));
}

void ProbeClock::plan(Time now, const Terms& terms) {
  // An answer without news means that packets take their time, and not that a path is dead.
  const bool in_doubt = asked_early_ == 0 || (asked_ > 0 && asked_early_ < kEarly);
  early_ = in_doubt && terms.outstanding && fruitless_ == 0 && terms.answer_time < kPauseMin;
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
  if (at_ == kNever) plan(now, terms);
}

bool ProbeClock::on_timeout(Time now, const Terms& terms) {
  if (now < at_) return false;
  ++asked_;
  if (std::exchange(early_, false)) {
    due_ = std::min(kEarlyTogether << asked_early_++, kTogether);
  } else {
    due_ = std::min(1u << std::min(unanswered_, kDoublingsMax), kTogether);
    ++unanswered_;
    ++fruitless_;
  }
  plan(now, terms);
  return true;
}

}  // namespace dlcp::core
