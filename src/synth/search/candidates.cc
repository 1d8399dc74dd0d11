#include "synth/search/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "synth/search/levels.h"

namespace dlcp::synth {
namespace {

enum class Kind { kDirect, kRing, kHalving };

// Splits a radix into levels by its prime factors.
void add_halving(int radix, std::vector<Level>& levels) {
  for (int factor = 2; radix > 1; factor++)
    for (; radix % factor == 0; radix /= factor)
      levels.push_back({factor, false});
}

Recipe exchange(const std::vector<int>& order, const std::vector<int>& radices, unsigned kinds) {
  Recipe recipe;
  recipe.order = order;
  for (const int radix : radices) {
    const auto kind = static_cast<Kind>(kinds % 3);
    kinds /= 3;
    const char* name = kind == Kind::kDirect ? "direct" : kind == Kind::kRing ? "ring" : "halving";
    recipe.name += fmt::format("{}{} of {}", recipe.name.empty() ? "" : ", ", name, radix);
    if (kind == Kind::kHalving)
      add_halving(radix, recipe.levels);
    else
      recipe.levels.push_back({radix, kind == Kind::kRing});
  }
  return recipe;
}

// Sizes of the levels from the innermost outwards, where all groups of a level are equal; at least
// {n}.
std::vector<std::vector<int>> shapes_of(const Topology& topology) {
  const int n = topology.ranks();
  std::vector<std::vector<int>> shapes{{n}};
  std::vector<int> sizes;  // ranks in a group, for each regular level
  for (const Partition& level : levels_of(topology)) {
    const auto members = members_of(topology, level);
    const std::size_t size = members.front().size();
    const bool equal = std::all_of(members.begin(), members.end(),
                                   [&](const auto& m) { return m.size() == size; });
    const int below = sizes.empty() ? 1 : sizes.back();
    if (equal && static_cast<int>(size) % below == 0) sizes.push_back(static_cast<int>(size));
  }
  for (const int size : sizes)
    shapes.push_back({size, n / size});
  if (sizes.size() >= 2) shapes.push_back({sizes[0], sizes.back() / sizes[0], n / sizes.back()});
  return shapes;
}

}  // namespace

std::vector<int> order_by_levels(const Topology& topology) {
  std::vector<int> order(static_cast<std::size_t>(topology.ranks()));
  std::iota(order.begin(), order.end(), 0);
  for (const Partition& level : levels_of(topology)) {
    std::stable_sort(
        order.begin(), order.end(),
        [&](int a, int b) {
          return level.of_node[static_cast<std::size_t>(a)] <
                 level.of_node[static_cast<std::size_t>(b)];
        });
  }
  return order;
}

bool fits(const Schedule& schedule, const Routes& routes) {
  return std::all_of(
      schedule.messages.begin(), schedule.messages.end(),
      [&](const Message& m) { return routes.adjacent(m.from, m.to); });
}

Recipe nccl_ring(std::vector<int> order) {
  Recipe recipe;
  recipe.name = "ring";
  recipe.levels = {{static_cast<int>(order.size()), true}};
  recipe.order = std::move(order);
  return recipe;
}

Recipe nccl_tree(const std::vector<int>& order) {
  Recipe recipe;
  recipe.name = "double binary tree";
  recipe.family = Family::kTrees;
  recipe.trees = double_binary_tree(order);
  return recipe;
}

std::vector<Recipe> regular_candidates(const Topology& topology, const Routes& routes,
                                       Collective collective) {
  const auto order = order_by_levels(topology);
  const int n = topology.ranks();
  std::vector<Recipe> all;
  std::set<std::vector<std::pair<int, bool>>> seen;
  for (const auto& shape : shapes_of(topology)) {
    unsigned combinations = 1;
    for (std::size_t i = 0; i < shape.size(); i++)
      combinations *= 3;
    for (unsigned kinds = 0; kinds < combinations; kinds++) {
      Recipe recipe = exchange(order, shape, kinds);
      std::vector<std::pair<int, bool>> key;
      for (const Level& level : recipe.levels)
        key.emplace_back(level.radix, level.ring && level.radix > 2);
      const bool pointless =
          collective == Collective::kAllToAll &&
          std::any_of(key.begin(), key.end(), [](const auto& l) { return l.second; });
      if (!pointless && seen.insert(key).second) all.push_back(std::move(recipe));
    }
  }
  const auto add = [&](const char* name, Family family) {
    Recipe recipe;
    recipe.name = name;
    recipe.family = family;
    recipe.order = order;
    all.push_back(std::move(recipe));
  };
  if (collective != Collective::kAllToAll) {
    add("Bruck", Family::kBruck);
    add("PAT", Family::kPat);
  }
  if (collective == Collective::kAllReduce) {
    if ((n & (n - 1)) == 0) add("doubling", Family::kDoubling);
    all.push_back(nccl_tree(order));
    all.push_back({"binomial tree", Family::kTrees, {}, {}, binomial_tree(order), {}, {}, 1});
  }
  // Removes candidates whose senders cannot reach their receivers.
  std::erase_if(all, [&](const Recipe& recipe) {
    const auto schedule = expand(recipe, collective, n);
    return !schedule || !fits(schedule.value(), routes);
  });
  return all;
}

std::optional<Recipe> weighted_direct(const Topology& topology, const Routes& routes) {
  const int n = topology.ranks();
  if (n < 3 || !routes.all_adjacent()) return std::nullopt;
  std::vector<double> out(static_cast<std::size_t>(n)), in(out.size());
  for (const Link& link : topology.links) {
    if (link.from < n) out[static_cast<std::size_t>(link.from)] += link.rate;
    if (link.to < n) in[static_cast<std::size_t>(link.to)] += link.rate;
  }
  // A rank that sums a share w of the vector sends and receives 1 + (n - 2) w of the vector. At
  // rate r for the whole vector, its link of rate b allows w = (b / r - 1) / (n - 2). Finds the r
  // for which the shares sum to 1.
  std::vector<double> share(out.size());
  const auto shares_at = [&](double rate) {
    double sum = 0;
    for (std::size_t rank = 0; rank < share.size(); rank++) {
      share[rank] = std::max(std::min(out[rank], in[rank]) / rate - 1, 0.0) / (n - 2);
      sum += share[rank];
    }
    return sum;
  };
  double low = 0, high = std::accumulate(out.begin(), out.end(), 0.0);
  for (int round = 0; round < 100; round++) {
    const double middle = (low + high) / 2;
    (shares_at(middle) > 1 ? low : high) = middle;
  }
  shares_at(low);
  constexpr double kUnits = 8192;
  Recipe recipe;
  recipe.name = "weighted direct";
  recipe.family = Family::kTrees;
  for (int root = 0; root < n; root++) {
    const int units = static_cast<int>(std::lround(share[static_cast<std::size_t>(root)] * kUnits));
    if (units == 0) continue;
    Tree tree{units, 0, std::vector<int>(share.size(), root)};
    tree.parent[static_cast<std::size_t>(root)] = -1;
    recipe.trees.push_back(std::move(tree));
  }
  if (recipe.trees.empty()) return std::nullopt;
  return recipe;
}

}  // namespace dlcp::synth
