// Training steps: the bytes they move, and when transfers may begin.
#include "simulate/load/training_step.h"

#include <map>

#include "catch.h"
#include "simulate/contest.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {
namespace {

constexpr AllReduce kAll[] = {AllReduce::kRing, AllReduce::kHierarchical, AllReduce::kDirect};

TEST_CASE("with every algorithm each host sends 2 (N - 1) / N of the gradient, across leaves too") {
  for (const AllReduce kind : kAll) {
    const Workload workload = training_step({{160'000, 0ns}}, kind, 2, 4);
    std::map<HostIndex, std::uint64_t> sent;
    for (const Step& step : workload)
      sent[step.transfer.from] += step.transfer.bytes;
    for (HostIndex host = 0; host < 8; ++host)
      CHECK(sent[host] == 2 * 7 * 20'000);
    CHECK(can_end(workload));
  }
}

TEST_CASE("an all-reduce begins when its gradient is ready and the previous all-reduce has ended") {
  for (const AllReduce kind : kAll) {
    const Workload workload = training_step({{80'000, 50us}, {80'000, 60us}}, kind, 2, 2);
    Setting setting;
    setting.fabric = leaf_spine(2, 2, 2, Wire{}, Wire{});
    setting.contender = Contender::kNscc;
    const Outcome outcome = run(setting, workload);
    REQUIRE(outcome.ended);
    const Finish& first = outcome.finishes.front();
    CHECK(first.began >= time_from_ns(50'000));
    const std::size_t half = workload.size() / 2;
    for (std::size_t i = half; i < workload.size(); ++i)
      for (const TransferId before : workload[i].after)
        CHECK(outcome.finishes[i].began >= outcome.finishes[before].delivered);
    CHECK(outcome.took > 60us);
  }
}

TEST_CASE("the time of a model's step is its arithmetic, and its last layers are reduced first") {
  const Model& model = models().front();
  const StepPlan plan = step_of(model, 100, 1);
  double macs = 0;
  double parameters = 0;
  for (const LayerGroup& group : model.layers) {
    macs += group.giga_macs;
    parameters += group.mega_parameters;
  }
  const double seconds = 3 * 2 * macs * 1e9 * model.samples / 100e12;
  CHECK(static_cast<double>(plan.compute.count()) * 1e-9 == Approx(seconds).epsilon(1e-6));
  double bytes = 0;
  for (const Bucket& bucket : plan.buckets)
    bytes += static_cast<double>(bucket.bytes);
  CHECK(bytes == Approx(parameters * 4e6).epsilon(1e-6));
  CHECK(plan.buckets.front().bytes > 25'000'000);
  CHECK(plan.buckets.front().ready < plan.buckets.back().ready);
  CHECK(step_of(model, 100, 0.5).compute < plan.compute);
}

}  // namespace
}  // namespace dlcp::simulate
