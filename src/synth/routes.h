// Routes of a message from one rank to another: the shortest paths through switches, spread over
// parallel links in proportion to their rates. Ranks do not relay here; if there is no such path,
// the algorithm must relay through a rank.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "synth/topology.h"

namespace dlcp::synth {

struct LinkShare {
  int link = 0;
  double share = 0;  // of the message's bytes
};

struct Hop {
  std::vector<LinkShare> links;
  double latency = 0;           // of the slowest path
  double seconds_per_byte = 0;  // of the most loaded link, without other traffic
};

class Routes {
 public:
  explicit Routes(const Topology& topology);

  int ranks() const { return ranks_; }
  bool adjacent(int from, int to) const { return !hops(from, to).empty(); }
  // In order; indices for hop(). Empty if only another rank could relay.
  std::span<const int> hops(int from, int to) const;
  const Hop& hop(int index) const { return hops_[static_cast<std::size_t>(index)]; }
  std::size_t hop_count() const { return hops_.size(); }
  double latency(int from, int to) const;
  double seconds_per_byte(int from, int to) const;  // of the slowest hop
  bool all_adjacent() const;

 private:
  using HopList = std::vector<int>;
  std::vector<int> distances_to(int node) const;
  HopList spread(int from, int to, const std::vector<int>& distance);
  int intern(Hop hop);
  HopList between(int from, int to);

  const Topology& topology_;
  int ranks_;
  std::vector<std::vector<int>> out_;  // links by their first node
  std::vector<std::vector<int>> in_;
  std::vector<Hop> hops_;
  std::unordered_map<std::uint64_t, std::vector<int>> known_;  // hop indices by hash
  std::map<std::pair<int, int>, HopList> middles_;             // from switch to switch
  std::unordered_map<int, std::vector<int>> distances_;
  std::vector<std::uint32_t> first_;  // by pair, into flat_
  std::vector<int> flat_;
};

}  // namespace dlcp::synth
