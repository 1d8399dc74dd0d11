// Uses epoll over the datapath's descriptor, an eventfd (nudge) and two timerfds, whose resolution
// is finer than epoll's milliseconds. There are two timers because only the thread itself may
// postpone its own deadline. All signals are blocked, because they belong to the application's
// threads.
#include "engine/thread/helper_thread.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "engine/host/clock.h"
#include "util/system/signals_blocked.h"
#include "util/system/system_text.h"

namespace dlcp::engine {
namespace {

bool add(int poll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void drain(int descriptor) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(descriptor, &count, sizeof count);
}

void set_timer(int timer, Time when) {
  itimerspec deadline{};  // all zero: disarmed
  if (when != kNever) {
    const std::int64_t ns = std::max<std::int64_t>(ns_of(when), 1);
    deadline.it_value.tv_sec = ns / 1'000'000'000;
    deadline.it_value.tv_nsec = ns % 1'000'000'000;
  }
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &deadline, nullptr);
}

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) {
    close(descriptor);
    descriptor = -1;
  }
}

Error cannot_start(int error) {
  const bool too_many = error == EMFILE || error == ENFILE;
  const bool forbidden = error == EPERM || error == EACCES || error == ENOSYS;
  return {ErrorCode::kSystem,
          std::string("cannot start the helper thread of a device: ") + system_text(error),
          too_many          ? "raise the limit on open files (ulimit -n)"
          : error == EAGAIN ? "raise the limit on threads (ulimit -u; in containers pids.max)"
          : forbidden       ? "let the sandbox, seccomp profile or SELinux policy permit threads, "
                              "epoll, eventfd and timerfd"
                            : ""};
}

}  // namespace

Status HelperThread::start(int packets, Wake on_wake) {
  packets_ = packets;
  int error = open();
  if (error == 0) {
    const SignalsBlocked blocked;
    try {
      thread_ = std::thread([this, on_wake = std::move(on_wake)] { loop(on_wake); });
    } catch (const std::system_error& refused) {
      error = refused.code().value();
    }
  }
  if (error == 0) return Unit{};
  stop();
  return cannot_start(error);
}

int HelperThread::open() {
  poll_ = epoll_create1(EPOLL_CLOEXEC);
  if (poll_ < 0) return errno;
  nudge_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (nudge_ < 0 || !add(poll_, nudge_)) return errno;
  for (int* const timer : {&timer_, &alarm_}) {
    *timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (*timer < 0 || !add(poll_, *timer)) return errno;
  }
  return 0;
}

void HelperThread::nudge() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = write(nudge_, &one, sizeof one);
}

void HelperThread::alarm(Time when) {
  set_timer(alarm_, when);
}

void HelperThread::stop() {
  if (thread_.joinable()) {
    stop_.store(true);
    nudge();
    thread_.join();
  }
  close_descriptor(poll_);
  close_descriptor(nudge_);
  close_descriptor(timer_);
  close_descriptor(alarm_);
}

void HelperThread::loop(const Wake& on_wake) {
  pthread_setname_np(pthread_self(), "dlcp-engine");
  constexpr Duration kAfterFailure = 10ms;
  while (!stop_.load()) {
    Sleep sleep;
    try {
      sleep = on_wake();
    } catch (const std::exception&) {  // out of memory: a plugin must not end the process
      sleep.until = steady_now() + kAfterFailure;
    }
    wait(sleep);
  }
}

void HelperThread::wait(const Sleep& sleep) {
  watch(sleep.watch_packets);
  set_timer(timer_, sleep.until);
  epoll_event events[4];
  const int count = epoll_wait(poll_, events, 4, -1);
  for (int i = 0; i < count; ++i)
    if (events[i].data.fd != packets_) drain(events[i].data.fd);
}

void HelperThread::watch(bool packets) {
  if (packets == watching_ || packets_ < 0) return;
  if (packets) {
    watching_ = add(poll_, packets_);
  } else {
    epoll_ctl(poll_, EPOLL_CTL_DEL, packets_, nullptr);
    watching_ = false;
  }
}

}  // namespace dlcp::engine
