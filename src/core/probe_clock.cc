#include "core/probe_clock.h"

#include <algorithm>
#include <utility>

namespace dlcp::core {
namespace {

constexpr Duration kFirstPauseMin = 100us;
constexpr Duration kPauseMin = 1ms;
constexpr Duration kPauseMax = 200ms;
constexpr unsigned kTogether = 4;  // questions at a time; each miss doubles up to here
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

void ProbeClock::run(Time now, const Terms& terms) {
  if (at_ != kNever) return;
  early_ = !asked_early_ && terms.outstanding && fruitless_ == 0 && terms.answer_time < kPauseMin;
  at_ = now + (early_ ? std::min(std::max(terms.answer_time, kFirstPauseMin), longest_pause_)
                      : pause(terms));
}

bool ProbeClock::on_timeout(Time now, const Terms& terms) {
  if (now < at_) return false;
  if (std::exchange(early_, false)) {
    asked_early_ = true;
    due_ = 1;
    at_ = now + pause(terms);
    return true;
  }
  due_ = std::min(1u << std::min(unanswered_, kDoublingsMax), kTogether);
  ++unanswered_;
  ++fruitless_;
  at_ = now + pause(terms);
  return true;
}

}  // namespace dlcp::core
