#include "core/liveness/ping_clock.h"

#include <utility>

namespace dlcp::core {
namespace {

// A killed process is noticed within 100 ms, unless its answers were late before. Hosts with more
// work than processor time answer late, and data needs most of that time: no pause is shorter than
// several answers take.
constexpr Duration kFirst = 20ms;
constexpr Duration kSeldom = 60ms;
constexpr int kAnswerTimes = 4;

}  // namespace

PingClock::PingClock(Duration peer_timeout)
    : first_(std::min(kFirst, peer_timeout / 4)),
      longest_(peer_timeout / 16),
      clock_(peer_timeout) {}

ProbeClock::Terms PingClock::terms() const {
  return {.answer_time = std::max(first_, std::min(kAnswerTimes * answer_time_, longest_)),
          .seldom = kSeldom};
}

// Data that arrives does not move the timer, because that would be work for every packet. When the
// timer ends, `since` shows whether PING is needed.
bool PingClock::on_timeout(Time now, Time since) {
  if (now < clock_.next_timeout()) return false;
  if (std::exchange(doubts_, false) || reports(now, since)) return clock_.on_timeout(now, terms());
  clock_.on_progress();
  if (since != kNever) run(since);
  return false;
}

}  // namespace dlcp::core
