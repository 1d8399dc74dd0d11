// The one thread that a device has: it sleeps until packets, a deadline or a nudge, and then asks
// its owner what to do next. It exists so that acknowledgements and retransmissions do not depend
// on the application; while the application polls it only looks up now and then (presence.h).
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "util/time.h"

namespace dlcp::engine {

class HelperThread {
 public:
  struct Sleep {
    bool watch_packets = false;
    Time until = kNever;
  };
  // Called on the thread each time it wakes; returns how to sleep next. Must not block.
  using Wake = std::function<Sleep()>;

  HelperThread() = default;
  ~HelperThread() { stop(); }
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  // `packets` polls readable while packets wait (-1: none such). False if the system refuses.
  bool start(int packets, Wake on_wake);
  // Makes it wake now, from any thread.
  void nudge();
  // Makes it wake then, whatever it had in mind. From any thread, and cheaper than a nudge: nobody
  // is woken yet.
  void alarm(Time when);
  void stop();

 private:
  void loop(const Wake& on_wake);
  void wait(const Sleep& sleep);
  void watch(bool packets);

  int packets_ = -1;
  int nudge_ = -1;
  int timer_ = -1;  // what on_wake has asked for
  int alarm_ = -1;
  int poll_ = -1;
  bool watching_ = false;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace dlcp::engine
