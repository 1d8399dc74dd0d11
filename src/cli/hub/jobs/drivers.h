// The threads that do a hub's work. Each runs its jobs in turn, in bounded steps, so that no job
// delays the others for long. If processors are given, each has one thread, and memory that the
// thread touches first is allocated near it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "cli/hub/jobs/job.h"

namespace dlcp::cli {

class Drivers {
 public:
  // One thread for each processor; a single unbound thread if none is given.
  explicit Drivers(const std::vector<int>& processors);
  Drivers(const Drivers&) = delete;
  Drivers& operator=(const Drivers&) = delete;

  // Gives the job to the thread with the fewest jobs.
  void give(const std::shared_ptr<HubJob>& job);

 private:
  struct Driver {
    std::mutex mutex;
    std::condition_variable_any has_work;        // a thread without jobs waits for it
    std::vector<std::shared_ptr<HubJob>> given;  // not yet taken by the thread
    std::atomic<std::size_t> jobs{0};
    std::jthread thread;  // the last member: ends before the others are destroyed
  };

  static void run(const std::stop_token& ends, Driver& driver, int processor);

  std::vector<std::unique_ptr<Driver>> drivers_;
};

// Linux has at most 8192 processors (NR_CPUS).
inline constexpr int kProcessorsMax = 8192;
// Binds this thread, and threads that it creates, to these processors, which must be less than
// kProcessorsMax. Returns those that it cannot use.
std::vector<int> bind_to(const std::vector<int>& processors);

}  // namespace dlcp::cli
