// The loads of all links while chunks are routed, and the price of routing the next chunk.
#pragma once

#include <vector>

#include "synth/routes.h"

namespace dlcp::synth {

class LinkPrices {
 public:
  // Load 1 is that of the most loaded link at the rate of the bound; `target` is the inverse of
  // that rate, in seconds per byte of a rank's buffer. `transposed`: data flows against the links'
  // direction.
  LinkPrices(const Topology& topology, const Routes& routes, double target, bool transposed);

  // Adds `share` of a rank's buffer from one rank to another; a negative share removes it.
  void add(int from, int to, double share);
  // Sets how steeply prices grow with load.
  void sharpen(double steepness);
  // The present price of a share between two adjacent ranks; infinite if they are not adjacent.
  double price(int from, int to) const;
  double highest_load() const;

 private:
  static constexpr double kStale = -1;
  double price_of(std::size_t link) const;
  double price_of_hop(std::size_t hop) const;

  const Topology& topology_;
  const Routes& routes_;
  double target_;
  bool transposed_;
  double steepness_ = 4;
  std::vector<double> load_;                 // by link
  mutable std::vector<double> hop_price_;    // by hop of the routes; kStale until computed
  std::vector<std::vector<int>> hops_over_;  // by link: the hops that use it
};

}  // namespace dlcp::synth
