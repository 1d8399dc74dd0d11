// The engine's lock while it is held. Its end decides whether the helper thread must wake sooner
// than it planned, gives the lock back, and only then says what there is to say: loggers and other
// engines are never called with the lock held.
#pragma once

#include <algorithm>
#include <mutex>

#include "engine/clock.h"
#include "engine/engine.h"

namespace dlcp::engine {

class Engine::Hold {
 public:
  explicit Hold(Engine& engine)
      : engine_(engine), lock_(engine.mutex_, std::try_to_lock), now_(wait_for_lock()) {
    note_poll();
  }
  // Takes the lock only if nobody else has it; check held().
  Hold(Engine& engine, std::try_to_lock_t try_to_lock)
      : engine_(engine), lock_(engine.mutex_, try_to_lock), now_(steady_now()) {
    note_poll();
  }
  ~Hold() {
    if (!lock_.owns_lock()) return;
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
  // The helper, which would take the lock again before the system has woken us, lets us by.
  Time wait_for_lock() {
    if (!lock_.owns_lock()) {
      engine_.presence_.at_the_door().fetch_add(1, std::memory_order_relaxed);
      lock_.lock();
      engine_.presence_.at_the_door().fetch_sub(1, std::memory_order_relaxed);
    }
    return steady_now();
  }
  void note_poll() { engine_.presence_.polled(now_); }

  // A poller is expected to come back soon; the helper need not be exact about deadlines that a
  // poller will see first, but it must not sleep far beyond them.
  bool helper_sleeps_too_long() {
    // More than it sleeps by itself while somebody polls.
    const Duration slack = engine_.presence_.longest_pause() + 1ms;
    const Time wanted = std::max(engine_.deadline(now_), now_);  // one overdue is a poller's, too
    if (!engine_.helper_runs_ || wanted == kNever || engine_.helper_wakes_ <= wanted + slack)
      return false;
    engine_.helper_wakes_ = now_;
    return true;
  }

  // Who waits for nothing may have left. An alarm stands until it rings, as most come back at once
  // and setting a timer costs as much as a packet.
  void expect_leaving() {
    if (!engine_.helper_runs_ || engine_.helper_takes_part_) return;
    if (const auto pause = engine_.presence_.alarm()) engine_.helper_.alarm(now_ + *pause);
  }

  Engine& engine_;
  std::unique_lock<std::mutex> lock_;
  const Time now_;
};

}  // namespace dlcp::engine
