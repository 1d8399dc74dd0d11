// A job whose times are known: what each rank would have recorded.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "whatif/run/run.h"
#include "whatif/steps/shares.h"

namespace dlcp::whatif {

struct MadeJob {
  std::uint32_t ranks = 4;
  std::size_t steps = 12;
  std::vector<std::uint64_t> sizes = {4096, 4 << 20};  // all-reduces of a step, one after another
  double compute = 20e-3;                              // s before the first one of each step
  double late = 0;                                     // s more on the last rank
  double latency = 50e-6;                              // of a round
  double bits = 1e9;                                   // of payload per second
  double tail = 0;  // every fifth collective takes longer by this share

  double transfer(std::uint64_t bytes) const {
    const Shape shape{"AllReduce", "float32", "RING", ranks, bytes};
    return shape.rounds() * latency + shape.wire_bytes() * 8 / bits;
  }
  double step_seconds() const {
    double seconds = compute + late;
    for (const std::uint64_t size : sizes)
      seconds += transfer(size);
    return seconds;
  }

  std::vector<Run> runs() const {
    const auto ns = [](double seconds) { return std::llround(seconds * 1e9); };
    std::vector<Run> all;
    for (std::uint32_t rank = 0; rank < ranks; rank++) {
      Run run;
      run.rank = static_cast<std::int32_t>(rank);
      run.ranks = ranks;
      run.pid = 100 + rank;
      run.starts = "kernel";
      run.communicators = {{0xabc, rank, ranks}};
      run.kinds = {{"AllReduce", "float32", "RING", "SIMPLE", 1}};
      double now = 1000.0 * rank;  // no two clocks agree
      std::uint64_t sequence = 0;
      for (std::size_t step = 0; step < steps; step++) {
        double wait = rank + 1 == ranks ? 0 : late;
        now += compute + (rank + 1 == ranks ? late : 0);
        for (const std::uint64_t size : sizes) {
          const double slow = sequence % 5 == 4 ? 1 + tail : 1;
          const double end = now + wait + transfer(size) * slow;
          run.records.push_back({0, 0, ++sequence, size, ns(now), ns(now), ns(end), 0, 0});
          now = end;
          wait = 0;
        }
      }
      run.collectives = run.records.size();
      all.push_back(std::move(run));
    }
    return all;
  }
};

}  // namespace dlcp::whatif
