#include "engine/devices/roce/placement_trial.h"

#include "util/system/signals_blocked.h"

namespace dlcp::engine {

std::shared_future<PlacementTrial::Ability> PlacementTrial::begun() {
  const std::lock_guard lock(mutex_);
  if (running_.valid()) return running_;
  const SignalsBlocked blocked;
  // Without the second flag, this would fail if the system had no room for another thread.
  running_ = std::async(std::launch::async | std::launch::deferred, test_).share();
  return running_;
}

void PlacementTrial::begin() {
  begun();
}

PlacementTrial::Ability PlacementTrial::result() {
  const auto running = begun();
  running.wait();
  const std::lock_guard lock(mutex_);
  return failure_ ? Ability(*failure_) : running.get();
}

void PlacementTrial::replace(Error error) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(error);
}

}  // namespace dlcp::engine
