#include "order/discover/find_fabric.h"

#include <fmt/format.h>

#include <algorithm>

#include "order/discover/clusters.h"
#include "order/discover/threshold.h"
#include "util/statistics/median.h"

namespace dlcp::order {
namespace {

using Leaves = std::vector<std::vector<int>>;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

// For each pair of leaves, the median of the known distances between their hosts.
Distances between(const Leaves& leaves, const Measurements& known) {
  Distances distances(leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    for (std::size_t j = i + 1; j < leaves.size(); ++j) {
      std::vector<double> values;
      for (const int a : leaves[i]) {
        for (const int b : leaves[j])
          if (const auto d = known.distance(a, b)) values.push_back(*d);
      }
      if (!values.empty()) distances.set(i, j, median(std::move(values)));
    }
  }
  return distances;
}

Leaves united(const Leaves& parts, const std::vector<int>& label) {
  Leaves whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (at(label[i]) >= whole.size()) whole.resize(at(label[i]) + 1);
    auto& into = whole[at(label[i])];
    into.insert(into.end(), parts[i].begin(), parts[i].end());
  }
  return whole;
}

// Tiers from the leaves upwards, each with its parents in the next tier.
struct Tiers {
  std::vector<Leaves> tiers;
  std::vector<std::vector<int>> parent;  // by tier: for each group, its group in the next tier
};

Tiers find_tiers(const Leaves& leaves, const Measurements& known) {
  Tiers found{{leaves}, {}};
  while (found.tiers.back().size() > 2) {
    const Distances distances = between(found.tiers.back(), known);
    const auto threshold = find_threshold({&distances, 1});
    if (!threshold) break;
    const auto label = cluster(distances, *threshold);
    Leaves above = united(found.tiers.back(), label);
    if (above.size() < 2 || above.size() == found.tiers.back().size()) break;
    found.parent.push_back(label);
    found.tiers.push_back(std::move(above));
  }
  return found;
}

const char* kind_of(std::size_t tier, std::size_t tiers) {
  return tier == 0 ? "leaf" : tier + 1 == tiers ? "pod" : "group";
}

void add_groups(fabric::Fabric& fabric, const Tiers& found) {
  std::vector<std::vector<int>> index(found.tiers.size());  // in fabric.groups, by tier
  for (std::size_t tier = found.tiers.size(); tier-- > 0;) {
    for (std::size_t i = 0; i < found.tiers[tier].size(); ++i) {
      const bool top = tier + 1 == found.tiers.size();
      const int parent = top ? 0 : index[tier + 1][at(found.parent[tier][i])];
      std::string name = fmt::format("{}{}", kind_of(tier, found.tiers.size()), i);
      if (tier > 0 && !top) name = fmt::format("group{}.{}", tier, i);
      index[tier].push_back(static_cast<int>(fabric.groups.size()));
      fabric.groups.push_back({std::move(name), parent, 0, 0, false});
    }
  }
  for (std::size_t i = 0; i < found.tiers[0].size(); ++i)
    for (const int host : found.tiers[0][i])
      fabric.group_of[at(host)] = index[0][i];
}

void add_round_trips(fabric::Fabric& fabric, const Measurements& known) {
  std::vector<std::vector<double>> values(fabric.groups.size());
  for (const auto& [pair, round_trip_us] : known.round_trips())
    values[at(fabric::common_group(fabric, pair.from, pair.to))].push_back(round_trip_us);
  for (std::size_t g = 0; g < values.size(); ++g)
    if (!values[g].empty()) fabric.groups[g].round_trip_us = median(std::move(values[g]));
}

}  // namespace

fabric::Fabric find_fabric(std::vector<fabric::Host> hosts, const Measurements& known,
                           const Survey& survey) {
  fabric::Fabric fabric = fabric::Fabric::flat(std::move(hosts));
  for (const int host : survey.silent)
    fabric.hosts[at(host)].silent = true;
  if (survey.leaves.size() > 1) add_groups(fabric, find_tiers(survey.leaves, known));
  add_round_trips(fabric, known);
  return fabric;
}

}  // namespace dlcp::order
