// Where the time of each step goes: computing, waiting for a late rank, or the network.
//
// A collective that synchronises its ranks moves no data before the last rank has arrived. The rank
// that arrives last sees the shortest duration, which is the transfer; what other ranks see beyond
// that is waiting. Only durations are compared between ranks, so their clocks need not agree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "whatif/run/run.h"
#include "whatif/steps/steps.h"

namespace dlcp::whatif {

// The properties that determine how long a transfer takes.
struct Shape {
  std::string function;
  std::string type;
  std::string algorithm;
  std::uint32_t ranks = 1;
  std::uint64_t bytes = 0;

  auto operator<=>(const Shape&) const = default;
  // Messages that follow one another, each after the one before has arrived.
  double rounds() const;
  // Bytes that a rank sends.
  double wire_bytes() const;
};

struct Transfer {
  std::size_t shape = 0;  // index into Shares::shapes
  double seconds = 0;     // of the last rank to arrive
};

struct StepShare {
  double compute = 0;  // s without a collective in flight
  double waiting = 0;  // s in which all collectives in flight waited for another rank
  double network = 0;  // s of transfers
  std::vector<Transfer> transfers;

  double seconds() const { return compute + waiting + network; }
};

struct RankShares {
  std::int32_t rank = -1;
  double blocked = 0;           // share of the transfers' time in which receives were outstanding
  double concurrent = 0;        // share of the collectives' time in which another one was in flight
  std::size_t collectives = 0;  // of a step; 0: unknown, the whole recording is one step
  double agreement = 0;
  std::vector<StepShare> steps;
};

struct Shares {
  std::vector<Shape> shapes;
  std::vector<RankShares> ranks;  // in the order of the runs
};

// Of the runs of one job, one for each recorded rank. A run without records has no steps.
Shares measure_shares(std::span<const Run> runs);

}  // namespace dlcp::whatif
