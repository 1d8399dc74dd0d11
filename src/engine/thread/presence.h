// Tracks whether callers drive the engine, so that the helper thread need not. Callers poll while
// they wait for something, but NCCL's proxy sleeps as soon as its operations are done, so a caller
// that waits for nothing may not return. Work that becomes due then (a peer asks whether its last
// message has arrived, a retransmission) must not wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "engine/thread/look_up.h"
#include "util/time.h"

namespace dlcp::engine {

class Presence {
 public:
  // Called by callers, under the lock. They wait for requests, or for calls that take several
  // requests.
  void polled(Time now) { polled_ns_.store(ns_of(now), std::memory_order_relaxed); }
  void waits(int more = 1) { waiting_.fetch_add(more); }
  void has_got() { waits(-1); }
  // When the helper must check: nullopt if it will check anyway, or need not.
  std::optional<Duration> alarm() {
    if (waiting_.load() != 0 || alarm_.exchange(true)) return std::nullopt;
    return while_leaving_.planned();
  }
  // Number of threads that wait for the lock.
  std::atomic<int>& waiting_threads() { return waiting_threads_; }

  // Called by the helper, without a lock. If callers drive the engine, returns when to check again.
  std::optional<Duration> look(Time now) {
    alarm_.store(false);
    const bool waits = waiting_.load() != 0;
    const Duration since = now - time_from_ns(polled_ns_.load(std::memory_order_relaxed));
    if (since >= (waits ? kBetweenPolls : kBetweenCalls)) {
      while_waiting_.reset();
      while_leaving_.reset();
      return std::nullopt;
    }
    const Duration soon = while_leaving_.next();
    if (waits) return while_waiting_.next();
    alarm_.store(true);
    return soon;
  }
  // The longest pause between the helper's own checks.
  Duration longest_pause() const { return while_waiting_.planned(); }

 private:
  // Shorter than another thread's time slice (3 ms and more), so that the helper steps while a
  // caller waits for its core. TCP's acknowledgements do not wait for a thread either.
  static constexpr Duration kBetweenPolls = std::chrono::milliseconds(1);
  static constexpr Duration kBetweenCalls = std::chrono::microseconds(100);

  std::atomic<std::int64_t> polled_ns_{0};
  std::atomic<int> waiting_{0};
  std::atomic<bool> alarm_{false};
  std::atomic<int> waiting_threads_{0};
  LookUp while_waiting_{std::chrono::milliseconds(1), std::chrono::milliseconds(60)};
  LookUp while_leaving_{std::chrono::milliseconds(1), std::chrono::milliseconds(4)};
};

}  // namespace dlcp::engine
