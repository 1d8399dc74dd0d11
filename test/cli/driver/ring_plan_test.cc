#include "cli/driver/ring/ring_plan.h"

#include <deque>

#include "catch.h"

using dlcp::cli::plan_ring;
using dlcp::cli::RingStep;

namespace {

// Runs the plans of all ranks against each other, with numbers in queues instead of a network.
std::vector<std::vector<double>> play(std::size_t count, int ranks) {
  const auto k = static_cast<std::size_t>(ranks);
  std::vector<std::vector<RingStep>> plans;
  std::vector<std::vector<double>> in(k), out(k, std::vector<double>(count, -1));
  std::vector<std::size_t> at(k);
  std::vector<std::deque<std::vector<double>>> queues(k);  // towards rank i
  for (std::size_t r = 0; r < k; r++) {
    plans.push_back(plan_ring(0, count, static_cast<int>(r), ranks));
    for (std::size_t i = 0; i < count; i++)
      in[r].push_back(static_cast<double>((r + 1) * (i + 1)));
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < k; r++) {
      if (at[r] == plans[r].size()) continue;
      const RingStep& step = plans[r][at[r]];
      if (step.receives && queues[r].empty()) continue;
      std::vector<double> values(step.count);
      if (step.receives) {
        REQUIRE(queues[r].front().size() == step.count);
        values = queues[r].front();
        queues[r].pop_front();
      }
      for (std::size_t i = 0; i < step.count; i++) {
        if (!step.receives || step.reduces) values[i] += in[r][step.offset + i];
        if (step.stores) out[r][step.offset + i] = values[i];
      }
      if (step.sends) queues[(r + 1) % k].push_back(values);
      at[r]++;
      moved = true;
    }
  }
  for (std::size_t r = 0; r < k; r++) {
    REQUIRE(at[r] == plans[r].size());
    REQUIRE(queues[r].empty());
  }
  return out;
}

}  // namespace

TEST_CASE("every rank ends with the sum of all, whatever the size") {
  for (const int ranks : {2, 3, 4, 7}) {
    for (const std::size_t count : {1u, 15u, 16u, 1000u, 65537u}) {
      const double factor = ranks * (ranks + 1) / 2.0;
      for (const auto& result : play(count, ranks))
        for (std::size_t i = 0; i < count; i++)
          REQUIRE(result[i] == factor * static_cast<double>(i + 1));
    }
  }
}

TEST_CASE("a ring sends 2(k-1) chunks of two slices in each loop, none above 1 MiB") {
  const std::size_t floats = (64u << 20) / 4;  // 64 MiB among 4: 8 loops of 4 chunks of 2 MiB
  const auto plan = plan_ring(0, floats, 1, 4);
  std::size_t sends = 0, receives = 0, sent = 0;
  for (const auto& step : plan) {
    sends += step.sends;
    receives += step.receives;
    if (step.sends) sent += step.count;
    CHECK(step.count * 4 <= dlcp::cli::kRingSliceBytes);
  }
  CHECK(sends == 8 * 2 * 3 * 2);
  CHECK(receives == sends);
  CHECK(sent == floats * 3 / 4 * 2);
}
