// Holds the engine's lock. The destructor decides whether the helper thread must wake earlier than
// planned, releases the lock, and only then delivers notices: loggers and other engines are never
// called with the lock held.
#pragma once

#include <algorithm>
#include <mutex>

#include "engine/host/clock.h"
#include "engine/lane/engine.h"

namespace dlcp::engine {

class Engine::Hold {
 public:
  explicit Hold(Engine& engine)
      : engine_(engine), lock_(engine.mutex_, std::try_to_lock), now_(wait_for_lock()) {
    note_poll();
  }
  // Takes the lock only if it is free; check held().
  Hold(Engine& engine, std::try_to_lock_t try_to_lock)
      : engine_(engine), lock_(engine.mutex_, try_to_lock), now_(steady_now()) {
    note_poll();
  }
  ~Hold() {
    if (!lock_.owns_lock()) return;
    engine_.presence_.polled(std::max(now_, engine_.stepped_));  // a step may take a millisecond
    const bool nudge = helper_sleeps_too_long();
    expect_leaving();
    const Notices::Batch said = engine_.notices_.take();
    lock_.unlock();
    if (nudge) engine_.helper_.nudge();
    engine_.notices_.speak(said);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  bool held() const { return lock_.owns_lock(); }
  Time now() const { return now_; }

 private:
  // Announces the waiting thread. Otherwise the helper could take the lock again before the system
  // has woken this thread.
  Time wait_for_lock() {
    if (!lock_.owns_lock()) {
      engine_.presence_.waiting_threads().fetch_add(1, std::memory_order_relaxed);
      lock_.lock();
      engine_.presence_.waiting_threads().fetch_sub(1, std::memory_order_relaxed);
    }
    return steady_now();
  }
  void note_poll() { engine_.presence_.polled(now_); }

  // Decides whether the helper must wake earlier. A polling caller usually returns soon, so the
  // helper may miss deadlines that the caller will see first, but it must not sleep far beyond
  // them.
  bool helper_sleeps_too_long() {
    // More than the helper's own pause while a caller polls.
    const Duration slack = engine_.presence_.longest_pause() + 1ms;
    const Time wanted = std::max(engine_.deadline(now_), now_);  // callers serve overdue ones, too
    if (!engine_.helper_runs_ || wanted == kNever || engine_.helper_wakes_ <= wanted + slack)
      return false;
    engine_.helper_wakes_ = now_;
    return true;
  }

  // A caller that waits for nothing may not return. The alarm stays set until it expires, because
  // most callers return at once and setting a timer costs as much as a packet.
  void expect_leaving() {
    if (!engine_.helper_runs_ || engine_.helper_takes_part_) return;
    if (const auto pause = engine_.presence_.alarm()) engine_.helper_.alarm(now_ + *pause);
  }

  Engine& engine_;
  std::unique_lock<std::mutex> lock_;
  const Time now_;
};

}  // namespace dlcp::engine
