#include "synth/flow/link_prices.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlcp::synth {

LinkPrices::LinkPrices(const Topology& topology, const Routes& routes, double target,
                       bool transposed)
    : topology_(topology),
      routes_(routes),
      target_(target),
      transposed_(transposed),
      load_(topology.links.size()),
      hop_price_(routes.hop_count(), kStale),
      hops_over_(topology.links.size()) {
  for (std::size_t hop = 0; hop < hop_price_.size(); hop++)
    for (const LinkShare& one : routes.hop(static_cast<int>(hop)).links)
      hops_over_[static_cast<std::size_t>(one.link)].push_back(static_cast<int>(hop));
}

double LinkPrices::price_of(std::size_t link) const {
  // Bounded, so that sums of prices remain finite at any load.
  const double load = std::min(steepness_ * (load_[link] - 1), 300.0);
  return std::exp(load) / (topology_.links[link].rate * target_);
}

double LinkPrices::price_of_hop(std::size_t hop) const {
  double& price = hop_price_[hop];
  if (price != kStale) return price;
  price = 0;
  for (const LinkShare& one : routes_.hop(static_cast<int>(hop)).links)
    price += price_of(static_cast<std::size_t>(one.link)) * one.share;
  return price;
}

void LinkPrices::add(int from, int to, double share) {
  for (const int hop : transposed_ ? routes_.hops(to, from) : routes_.hops(from, to)) {
    for (const LinkShare& one : routes_.hop(hop).links) {
      const auto link = static_cast<std::size_t>(one.link);
      load_[link] += share * one.share / (topology_.links[link].rate * target_);
      for (const int other : hops_over_[link])
        hop_price_[static_cast<std::size_t>(other)] = kStale;
    }
  }
}

void LinkPrices::sharpen(double steepness) {
  steepness_ = steepness;
  std::fill(hop_price_.begin(), hop_price_.end(), kStale);
}

double LinkPrices::price(int from, int to) const {
  const auto hops = transposed_ ? routes_.hops(to, from) : routes_.hops(from, to);
  if (hops.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const int hop : hops)
    sum += price_of_hop(static_cast<std::size_t>(hop));
  return sum;
}

double LinkPrices::highest_load() const {
  return *std::max_element(load_.begin(), load_.end());
}

}  // namespace dlcp::synth
