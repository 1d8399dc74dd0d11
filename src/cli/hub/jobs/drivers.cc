#include "cli/hub/jobs/drivers.h"

#include <sched.h>

#include <algorithm>
#include <memory>

#include "engine/host/clock.h"

namespace dlcp::cli {
namespace {

// After `after` without work, a thread sleeps for `sleep` between polls.
struct Rest {
  Duration after;
  Duration sleep;
};
constexpr Rest kRests[] = {{1s, 2ms}, {10ms, 200us}, {0ms, 20us}};

void rest(Duration idle) {
  const auto* const found =
      std::ranges::find_if(kRests, [&](const Rest& each) { return idle >= each.after; });
  std::this_thread::sleep_for(found->sleep);
}

}  // namespace

std::vector<int> bind_to(const std::vector<int>& processors) {
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(kProcessorsMax), [](cpu_set_t* each) { CPU_FREE(each); });
  const std::size_t bytes = CPU_ALLOC_SIZE(kProcessorsMax);
  if (set == nullptr) return processors;
  CPU_ZERO_S(bytes, set.get());
  for (const int processor : processors)
    CPU_SET_S(static_cast<std::size_t>(processor), bytes, set.get());
  // The system leaves out processors that do not exist if others do.
  if (::sched_setaffinity(0, bytes, set.get()) != 0 ||
      ::sched_getaffinity(0, bytes, set.get()) != 0)
    return processors;
  std::vector<int> refused;
  for (const int processor : processors)
    if (!CPU_ISSET_S(static_cast<std::size_t>(processor), bytes, set.get()))
      refused.push_back(processor);
  return refused;
}

Drivers::Drivers(const std::vector<int>& processors) {
  const std::size_t count = std::max(processors.size(), std::size_t{1});
  for (std::size_t i = 0; i < count; ++i) {
    drivers_.push_back(std::make_unique<Driver>());
    Driver& driver = *drivers_.back();
    const int processor = processors.empty() ? -1 : processors[i];
    driver.thread = std::jthread(
        [&driver, processor](const std::stop_token& ends) { run(ends, driver, processor); });
  }
}

void Drivers::give(const std::shared_ptr<HubJob>& job) {
  const auto least = std::ranges::min_element(
      drivers_, {}, [](const auto& driver) { return driver->jobs.load(); });
  {
    const std::lock_guard lock((*least)->mutex);
    (*least)->given.push_back(job);
    ++(*least)->jobs;
  }
  (*least)->has_work.notify_one();
}

void Drivers::run(const std::stop_token& ends, Driver& driver, int processor) {
  if (processor >= 0) (void)bind_to({processor});
  std::vector<std::shared_ptr<HubJob>> jobs;
  Time moved_at = engine::steady_now();
  while (!ends.stop_requested()) {
    {
      std::unique_lock lock(driver.mutex);
      driver.jobs = jobs.size() + driver.given.size();
      if (jobs.empty()) {
        driver.has_work.wait(lock, ends, [&] { return !driver.given.empty(); });
        moved_at = engine::steady_now();
      }
      jobs.insert(jobs.end(), driver.given.begin(), driver.given.end());
      driver.given.clear();
    }
    bool moved = false;
    std::erase_if(jobs, [&](const auto& job) {
      const HubJob::Step step = job->step();
      moved = moved || step != HubJob::Step::kRests;
      return step == HubJob::Step::kOver;
    });
    const Time now = engine::steady_now();
    if (moved)
      moved_at = now;
    else
      rest(now - moved_at);
  }
}

}  // namespace dlcp::cli
