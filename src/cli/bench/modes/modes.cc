#include "cli/bench/modes/modes.h"

#include <set>
#include <utility>

#include "cli/bench/rank/rank.h"
#include "synth/plan/schedule.h"

namespace dlcp::cli {
namespace {

using Wires = std::vector<Wire>;

void add_pair(Wires& wires, int source, int destination, int channels) {
  for (int channel = 0; channel < channels; channel++)
    wires.push_back({source, destination, channel});
}

Wires in_pairs(const BenchCase& c) {
  Wires wires;
  for (int rank = 0; rank + 1 < c.ranks; rank += 2)
    add_pair(wires, rank, rank + 1, c.channels);
  return wires;
}

Wires both_ways(const BenchCase&) {
  return {{0, 1, 0}, {1, 0, 0}};
}

Wires in_a_ring(const BenchCase& c) {
  Wires wires;
  if (by_collnet(c.algorithm)) return wires;  // the plugin makes its own connections
  for (int rank = 0; rank < c.ranks; rank++)
    add_pair(wires, rank, (rank + 1) % c.ranks, c.channels);
  return wires;
}

Wires to_rank_0(const BenchCase& c) {
  Wires wires;
  for (int rank = 1; rank < c.ranks; rank++)
    add_pair(wires, rank, 0, c.channels);
  return wires;
}

Wires all_to_all(const BenchCase& c) {
  Wires wires;
  for (int rank = 0; rank < c.ranks; rank++)
    for (int distance = 1; distance < c.ranks; distance++)
      add_pair(wires, rank, (rank + distance) % c.ranks, c.channels);
  return wires;
}

Wires as_planned(const BenchCase& c) {
  std::set<std::pair<int, int>> pairs;
  for (const synth::Message& message : c.schedule->messages)
    pairs.insert({message.from, message.to});
  Wires wires;
  for (const auto& [from, to] : pairs)
    add_pair(wires, from, to, 1);
  return wires;
}

// By Mode.
constexpr ModeTraits kTraits[kModes] = {
    {"bw", 2, "1M", 8, true, false, true, false, nullptr, in_pairs, run_stream},
    {"lat", 2, "64", 8, true, false, true, false, "half round trip", both_ways, run_latency},
    {"ring", 4, "16M", 4, false, true, false, true, "all-reduce", in_a_ring, run_all_reduce},
    {"incast", 4, "1M", 8, false, false, true, false, nullptr, to_rank_0, run_stream},
    {"alltoall", 4, "1M", 8, false, true, true, false, nullptr, all_to_all, run_stream},
    {"abort", 2, "1M", 32, true, false, false, false, nullptr, in_pairs, run_stream},
    {"plan", 4, "1M", 8, false, true, false, false, "collective", as_planned, run_plan},
    {"allreduce", 8, "1M", 4, false, true, false, true, "all-reduce", in_a_ring, run_all_reduce},
};

}  // namespace

const ModeTraits& traits_of(Mode mode) {
  return kTraits[static_cast<std::size_t>(mode)];
}

const char* name_of(Mode mode) {
  return traits_of(mode).name;
}

}  // namespace dlcp::cli
