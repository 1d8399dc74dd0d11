// Tests whether a device's card places data. The tests of several devices, up to a second each,
// run at the same time if all begin before the first result is needed.
#pragma once

#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "datapath/verbs/placement/placement_ability.h"
#include "util/result.h"

namespace dlcp::engine {

class PlacementTrial {
 public:
  using Ability = Result<datapath::PlacementAbility>;
  explicit PlacementTrial(std::function<Ability()> test) : test_(std::move(test)) {}

  // Runs it in a thread of its own, once. It has ended when the destructor returns.
  void begin();
  // Waits for the end of the test.
  Ability result();
  // The device could not be opened in this way: this is the result from now on.
  void replace(Error error);

 private:
  std::shared_future<Ability> begun();

  const std::function<Ability()> test_;
  std::mutex mutex_;
  std::shared_future<Ability> running_;
  std::optional<Error> failure_;
};

}  // namespace dlcp::engine
