#include "order/solve/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "order/solve/graphs.h"

namespace dlcp::order {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

double time_of(double gb, double gb_per_s) {
  return gb_per_s > 0 ? gb / gb_per_s : 0;
}

// The load of hosts and uplinks in one round, in each direction.
class Loads {
 public:
  explicit Loads(const fabric::Fabric& fabric)
      : fabric_(fabric), host_(2 * fabric.hosts.size()), uplink_(2 * fabric.groups.size()) {}

  void add(int from, int to, double gb) {
    host_[2 * at(from)] += gb;
    host_[2 * at(to) + 1] += gb;
    const int top = fabric::common_group(fabric_, from, to);
    for (int g = fabric_.group_of[at(from)]; g != top; g = fabric_.groups[at(g)].parent)
      uplink_[2 * at(g)] += gb;
    for (int g = fabric_.group_of[at(to)]; g != top; g = fabric_.groups[at(g)].parent)
      uplink_[2 * at(g) + 1] += gb;
  }

  double seconds() const {
    double worst = 0;
    for (std::size_t i = 0; i < host_.size(); ++i)
      worst = std::max(worst, time_of(host_[i], fabric_.hosts[i / 2].gb_per_s));
    for (std::size_t i = 0; i < uplink_.size(); ++i)
      worst = std::max(worst, time_of(uplink_[i], fabric_.groups[i / 2].uplink_gb_per_s));
    return worst;
  }

 private:
  const fabric::Fabric& fabric_;
  std::vector<double> host_, uplink_;  // out, in
};

// From the farthest leaf of the tree to the root, and back.
double tree_latency_us(const fabric::Fabric& fabric, std::span<const int> order) {
  const int nodes = static_cast<int>(order.size());
  double worst = 0;
  for (int rank = 0; rank < nodes; ++rank) {
    double sum = 0;
    for (int r = rank, up = tree_parent(r, nodes); up >= 0; r = up, up = tree_parent(r, nodes))
      sum += fabric::round_trip_us(fabric, order[at(r)], order[at(up)]);
    worst = std::max(worst, sum);
  }
  return worst;
}

// The number of `hosts` below each group.
std::vector<int> counts(const fabric::Fabric& fabric, std::span<const int> hosts) {
  std::vector<int> count(fabric.groups.size());
  for (const int host : hosts)
    for (int g = fabric.group_of[at(host)]; g >= 0; g = fabric.groups[at(g)].parent)
      ++count[at(g)];
  return count;
}

}  // namespace

Cost cost_of(const fabric::Fabric& fabric, std::span<const int> order, const Pattern& pattern) {
  Cost cost;
  for (const auto& round : pattern.rounds) {
    Loads loads(fabric);
    double sum_us = 0, most_us = 0;
    for (const Message& message : round) {
      const int from = order[at(message.from)];
      const int to = order[at(message.to)];
      loads.add(from, to, message.gb);
      const double us = fabric::round_trip_us(fabric, from, to);
      sum_us += us;
      most_us = std::max(most_us, us);
    }
    cost.seconds += loads.seconds();
    cost.latency_us += pattern.sequential ? sum_us : most_us;
  }
  if (pattern.name == "tree") cost.latency_us = tree_latency_us(fabric, order);
  return cost;
}

Cost all_to_all_cost(const fabric::Fabric& fabric, std::span<const int> hosts) {
  const auto nodes = static_cast<double>(hosts.size());
  Cost cost;
  if (hosts.size() < 2) return cost;
  constexpr double kVectorGb = 8;
  for (const int host : hosts)
    cost.seconds = std::max(
        cost.seconds, time_of(kVectorGb * (nodes - 1) / nodes, fabric.hosts[at(host)].gb_per_s));
  const auto count = counts(fabric, hosts);
  for (std::size_t g = 1; g < count.size(); ++g)
    cost.seconds = std::max(cost.seconds, time_of(kVectorGb * count[g] * (nodes - count[g]) / nodes,
                                                  fabric.groups[g].uplink_gb_per_s));
  for (const fabric::Group& group : fabric.groups)
    cost.latency_us = std::max(cost.latency_us, group.round_trip_us / 2);
  return cost;
}

double bound_seconds(const fabric::Fabric& fabric, std::span<const int> hosts,
                     const Pattern& pattern) {
  const auto count = counts(fabric, hosts);
  double seconds = 0;
  for (const auto& round : pattern.rounds) {
    std::vector<double> out(hosts.size()), in(hosts.size());
    for (const Message& message : round) {
      out[at(message.from)] += message.gb;
      in[at(message.to)] += message.gb;
    }
    // Not faster than the busiest ranks on the fastest hosts.
    std::vector<double> rates;
    for (const int host : hosts) {
      const double rate = fabric.hosts[at(host)].gb_per_s;
      rates.push_back(rate > 0 ? rate : std::numeric_limits<double>::infinity());
    }
    std::ranges::sort(rates);
    double worst = 0;
    for (auto* load : {&out, &in}) {
      std::ranges::sort(*load);
      for (std::size_t i = 0; i < rates.size(); ++i)
        worst = std::max(worst, time_of((*load)[i], rates[i]));
    }
    std::vector<Arc> arcs;
    for (const Message& message : round)
      arcs.push_back({message.from, message.to, message.gb});
    const double least = least_cut(static_cast<int>(hosts.size()), arcs);
    for (std::size_t g = 1; g < count.size(); ++g)
      if (count[g] > 0 && count[g] < static_cast<int>(hosts.size()))
        worst = std::max(worst, time_of(least, fabric.groups[g].uplink_gb_per_s));
    seconds += worst;
  }
  return seconds;
}

int crossings(const fabric::Fabric& fabric, std::span<const int> order) {
  int count = 0;
  for (std::size_t i = 0; i < order.size() && order.size() > 1; ++i) {
    const int next = order[(i + 1) % order.size()];
    count += fabric.group_of[at(order[i])] != fabric.group_of[at(next)];
  }
  return count;
}

}  // namespace dlcp::order
