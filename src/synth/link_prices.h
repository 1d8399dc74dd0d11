// The loads of all links while chunks are routed over them, and what the next chunk would pay.
#pragma once

#include <vector>

#include "synth/routes.h"

namespace dlcp::synth {

class LinkPrices {
 public:
  // A load of 1 is what the most loaded link has when the rate of the bound is reached; `target` is
  // that in seconds per byte of a rank's buffer. `transposed`: everything runs against the links.
  LinkPrices(const Topology& topology, const Routes& routes, double target, bool transposed);

  // `share` of a rank's buffer from one rank to another; negative takes it away.
  void add(int from, int to, double share);
  // How steeply prices grow with load, from now on.
  void sharpen(double steepness);
  // What a share between two adjacent ranks costs now; infinite where they are not adjacent.
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
  mutable std::vector<double> hop_price_;    // by hop of the routes; kStale until somebody asks
  std::vector<std::vector<int>> hops_over_;  // by link: the hops that use it
};

}  // namespace dlcp::synth
