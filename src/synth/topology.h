// The network of a collective: ranks, switches, and one-way links with a rate and a latency. Ranks
// may relay through their own memory; switches forward and never reduce.
#pragma once

#include <string>
#include <vector>

#include "util/result.h"

namespace dlcp::synth {

struct Node {
  std::string name;
  bool rank = false;
  bool multicast = false;  // the switch can send one message out of several ports
  int group = -1;          // ranks: their box or leaf, if the input names it
};

struct Link {
  int from = 0;  // index into Topology::nodes
  int to = 0;
  double rate = 0;     // bytes per second
  double latency = 0;  // seconds, for the first byte
};

class Topology {
 public:
  static constexpr int kRanksMax = 1024;
  static constexpr int kNodesMax = 8192;
  static constexpr double kRateMax = 1e15;  // bytes per second; sums of rates remain exact integers

  std::string name = "topology";
  std::vector<Node> nodes;  // after settle(): ranks first, in the input's order
  std::vector<Link> links;
  int box = 1;                     // consecutive ranks that share memory, if the input says so
  double message = 1e-6;           // seconds per message, at its sender and at its receiver
  std::vector<std::string> notes;  // changes by settle() that the user may not expect

  int ranks() const { return ranks_; }
  const std::string& rank_name(int rank) const {
    return nodes[static_cast<std::size_t>(rank)].name;
  }

  // Puts ranks first, combines parallel links, removes links of rate 0. Fails for an empty or
  // oversized network, duplicate names, invalid rates and latencies, and if a rank cannot reach
  // another.
  Status settle();

 private:
  Status check() const;
  void put_ranks_first();
  void merge_links();
  Status reach() const;

  int ranks_ = 0;
};

}  // namespace dlcp::synth
