// The threads that do a hub's work: each drives the jobs that it was given, in turn, a bounded step
// at a time, so that none keeps others waiting. With processors named each has one of its own, and
// what it touches first lies near it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cli/hub/job.h"

namespace dlcp::cli {

class Drivers {
 public:
  // One thread for each processor; a single one, anywhere, where none is named.
  explicit Drivers(const std::vector<int>& processors);
  ~Drivers();
  Drivers(const Drivers&) = delete;
  Drivers& operator=(const Drivers&) = delete;

  // To the one that has the fewest.
  void give(const std::shared_ptr<HubJob>& job);

 private:
  struct Driver {
    std::mutex mutex;
    std::vector<std::shared_ptr<HubJob>> given;  // and not taken yet
    std::atomic<std::size_t> jobs{0};
    std::thread thread;
  };

  void run(Driver& driver, int processor);

  std::atomic<bool> ends_{false};
  std::vector<std::unique_ptr<Driver>> drivers_;
};

// Only these processors, for this thread and those that it begins. False if the system refuses.
bool bind_to(const std::vector<int>& processors);

}  // namespace dlcp::cli
