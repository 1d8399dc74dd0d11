// The thread of a lane: it sleeps until packets arrive, a deadline passes or it is nudged, and then
// asks its owner what to do next. Because of it, acknowledgements and retransmissions do not depend
// on the application. While the application polls, the thread only checks this from time to time
// (presence.h).
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "util/result.h"
#include "util/time.h"

namespace dlcp::engine {

class HelperThread {
 public:
  struct Sleep {
    bool watch_packets = false;
    Time until = kNever;
  };
  // Called on the thread each time it wakes; returns how long to sleep next. Must not block.
  using Wake = std::function<Sleep()>;

  HelperThread() = default;
  ~HelperThread() { stop(); }
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  // `packets` is readable while packets wait (-1: no such descriptor). kSystem if the system
  // refuses.
  Status start(int packets, Wake on_wake);
  // Wakes the thread now. Callable from any thread.
  void nudge();
  // Also wakes the thread at `when`, in addition to its own deadline. Callable from any thread, and
  // cheaper than nudge() because it does not wake the thread immediately.
  void alarm(Time when);
  void stop();

 private:
  int open();  // returns 0 or the error number
  void loop(const Wake& on_wake);
  void wait(const Sleep& sleep);
  void watch(bool packets);

  int packets_ = -1;
  int nudge_ = -1;
  int timer_ = -1;  // set to the deadline that on_wake returned
  int alarm_ = -1;
  int poll_ = -1;
  bool watching_ = false;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace dlcp::engine
