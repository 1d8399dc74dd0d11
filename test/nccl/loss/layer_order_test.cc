#include "nccl/loss/layer_order.h"

#include <vector>

#include "catch.h"

namespace {

using namespace dlcp;
using nccl::Collective;
using nccl::LayerOrder;

Collective bucket(std::uint64_t count) {
  return {nccl::Function::kAllReduce,
          nccl::Algorithm::kRing,
          nccl::Protocol::kSimple,
          gradient::ElementType::kFloat32,
          count,
          1};
}

// Training: a forward pass, then one collective per bucket, at intervals of a millisecond.
class Training {
 public:
  std::vector<bool> step(const std::vector<std::uint64_t>& buckets) {
    now_ += 100ms;
    std::vector<bool> urgent;
    for (const std::uint64_t count : buckets) {
      now_ += 1ms;
      urgent.push_back(order_.started(now_, bucket(count)));
    }
    return urgent;
  }
  LayerOrder& order() { return order_; }

 private:
  LayerOrder order_;
  Time now_ = time_from_ns(0);
};

const std::vector<std::uint64_t> kModel = {100, 700, 700, 700, 700, 700, 300, 900};
const std::vector<bool> kLastQuarter = {false, false, false, false, false, false, true, true};
const std::vector<bool> kNothing(8, false);

}  // namespace

TEST_CASE("the last quarter of a step's collectives is urgent once the step has repeated") {
  Training training;
  CHECK(training.step(kModel) == kNothing);
  CHECK(training.step(kModel) == kNothing);
  training.step(kModel);
  CHECK(training.step(kModel) == kLastQuarter);
  CHECK(training.order().step_length() == 8);
  for (int i = 0; i < 100; ++i)
    REQUIRE(training.step(kModel) == kLastQuarter);
}

TEST_CASE("a new pattern is learned from the beginning") {
  Training training;
  for (int i = 0; i < 10; ++i)
    training.step(kModel);
  const std::vector<std::uint64_t> other = {50, 60, 70, 80};
  CHECK(training.step(other) == std::vector<bool>(4, false));
  CHECK(training.order().step_length() == 0);
  for (int i = 0; i < 4; ++i)
    training.step(other);
  CHECK(training.step(other) == std::vector<bool>{false, false, false, true});
}

TEST_CASE("collectives of equal size have no order, and neither have too many") {
  Training training;
  for (int i = 0; i < 20; ++i)
    REQUIRE(training.step({700, 700, 700, 700}) == std::vector<bool>(4, false));
  std::vector<std::uint64_t> many;
  for (std::uint64_t i = 0; i < LayerOrder::kStepMax + 1; ++i)
    many.push_back(i);
  for (int i = 0; i < 4; ++i)
    REQUIRE(training.step(many) == std::vector<bool>(many.size(), false));
}
