#include "synth/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "synth/topology.h"

namespace dlcp::synth {
namespace {

Error refuse(const Recipe& recipe, const std::string& what) {
  return {ErrorCode::kInvalidUsage, fmt::format("algorithm '{}': {}", recipe.name, what),
          "create the plan again with dlcp synth"};
}

bool is_permutation(const std::vector<int>& order, int ranks) {
  std::vector<bool> seen(static_cast<std::size_t>(ranks));
  for (const int rank : order) {
    if (rank < 0 || rank >= ranks || seen[static_cast<std::size_t>(rank)]) return false;
    seen[static_cast<std::size_t>(rank)] = true;
  }
  return order.size() == seen.size();
}

bool levels_fit(const std::vector<Level>& levels, int ranks) {
  long product = 1;
  for (const Level& level : levels) {
    if (level.radix < 1 || level.radix > ranks) return false;
    product *= level.radix;
    if (product > ranks) return false;
  }
  return product == ranks;
}

// Whether there is exactly one root, and every path upwards ends there.
bool is_tree(const Tree& tree, int ranks) {
  if (tree.units < 1 || tree.units > 1 << 20 || tree.release < 0 || tree.release > 1 << 20)
    return false;
  if (tree.parent.size() != static_cast<std::size_t>(ranks)) return false;
  if (std::count(tree.parent.begin(), tree.parent.end(), -1) != 1) return false;
  std::vector<int> seen_from(tree.parent.size(), -1);
  for (int rank = 0; rank < ranks; rank++) {
    for (int at = rank; at >= 0; at = tree.parent[static_cast<std::size_t>(at)]) {
      if (at >= ranks) return false;
      int& mark = seen_from[static_cast<std::size_t>(at)];
      if (mark == rank) return false;
      if (mark >= 0) break;  // known to end at the root
      mark = rank;
    }
  }
  return true;
}

Schedule both_ways(const Schedule& gather, Collective collective) {
  if (collective == Collective::kAllGather) return gather;
  const Schedule reduce = reversed(gather);
  return collective == Collective::kReduceScatter ? reduce : all_reduce_of(reduce, gather);
}

Direction direction_of(Collective collective) {
  return collective == Collective::kAllGather       ? Direction::kDown
         : collective == Collective::kReduceScatter ? Direction::kUp
                                                    : Direction::kUpAndDown;
}

Result<Schedule> expand_trees(const Recipe& recipe, Collective collective, int ranks) {
  if (collective == Collective::kAllToAll)
    return refuse(recipe, "trees cannot perform an alltoall");
  if (recipe.trees.empty()) return refuse(recipe, "it contains no trees");
  if (!recipe.reducing.empty() && recipe.reducing.size() != recipe.trees.size())
    return refuse(recipe, "the numbers of trees for sums and for copies differ");
  long units = 0;
  for (const auto* trees : {&recipe.trees, &recipe.reducing}) {
    for (const Tree& tree : *trees) {
      if (!is_tree(tree, ranks))
        return refuse(recipe, fmt::format("one of its trees is not a tree over {} ranks", ranks));
      units += tree.units;
    }
  }
  if (units > 1 << 28) return refuse(recipe, fmt::format("{} units", units));
  return by_trees(direction_of(collective), recipe.trees, recipe.reducing);
}

Result<Schedule> expand_once(const Recipe& recipe, Collective collective, int ranks) {
  const bool to_all = collective == Collective::kAllToAll;
  if (recipe.family == Family::kTrees) return expand_trees(recipe, collective, ranks);
  if (recipe.family == Family::kExplicit) {
    Schedule schedule = recipe.schedule;
    schedule.collective = collective;
    schedule.ranks = ranks;
    return schedule;
  }
  if (!is_permutation(recipe.order, ranks))
    return refuse(recipe, fmt::format("its order is not a permutation of {} ranks", ranks));
  switch (recipe.family) {
    case Family::kExchange:
      if (!levels_fit(recipe.levels, ranks))
        return refuse(recipe, fmt::format("the product of its levels is not {} ranks", ranks));
      if (to_all) return all_to_all_by_levels(recipe.order, recipe.levels);
      return both_ways(gather_by_levels(recipe.order, recipe.levels), collective);
    case Family::kDoubling:
      if (collective != Collective::kAllReduce || (ranks & (ranks - 1)) != 0)
        return refuse(recipe, fmt::format("this algorithm cannot perform {} of {} ranks",
                                          name_of(collective), ranks));
      return all_reduce_by_doubling(recipe.order);
    case Family::kBruck:
    case Family::kPat:
      if (to_all) return refuse(recipe, "this algorithm cannot perform an alltoall");
      return both_ways(recipe.family == Family::kPat ? gather_by_pat(recipe.order)
                                                     : gather_by_bruck(recipe.order),
                       collective);
    case Family::kTrees:
    case Family::kExplicit:
      break;
  }
  return refuse(recipe, "unknown family");
}

}  // namespace

Result<Schedule> expand(const Recipe& recipe, Collective collective, int ranks) {
  if (ranks < 1 || ranks > Topology::kRanksMax)
    return refuse(recipe, fmt::format("{} ranks", ranks));
  if (recipe.slices < 1 || recipe.slices > 4096)
    return refuse(recipe, fmt::format("{} slices", recipe.slices));
  auto schedule = expand_once(recipe, collective, ranks);
  if (!schedule || recipe.slices == 1) return schedule;
  const std::size_t size = schedule->messages.size() + schedule->chunks.size();
  if (size * static_cast<std::size_t>(recipe.slices) > std::size_t{1} << 24 ||
      schedule->units > (1 << 30) / recipe.slices)
    return refuse(recipe, fmt::format("{} messages in {} slices exceed the limit",
                                      schedule->messages.size(), recipe.slices));
  for (const Chunk& chunk : schedule->chunks) {
    if (chunk.begin < 0 || chunk.units < 1 || chunk.begin > schedule->units - chunk.units)
      return refuse(recipe,
                    fmt::format("a chunk begins at unit {} of {}", chunk.begin, schedule->units));
  }
  return sliced(schedule.value(), recipe.slices);
}

const Bracket& Plan::bracket_for(double bytes) const {
  for (const Bracket& bracket : brackets)
    if (bytes <= bracket.up_to) return bracket;
  return brackets.back();
}

}  // namespace dlcp::synth
