#include "synth/flow/packing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "synth/flow/link_prices.h"
#include "synth/flow/spanning.h"
#include "synth/search/levels.h"

namespace dlcp::synth {
namespace {

constexpr int kAloneMax = 64;  // number of ranks up to which each is a separate node
constexpr double kSteepness[] = {4, 8, 16, 32, 64, 128};
// A tree's deeper messages precede the next tree's first ones, so that little is left at the end,
// when no new messages keep the links busy.
constexpr int kReleaseSteps = 4;

// Equivalent ranks of a group; in each tree one rank represents them.
std::vector<std::vector<int>> clusters_of(const Topology& topology) {
  const int n = topology.ranks();
  std::vector<std::vector<int>> clusters;
  const auto levels = levels_of(topology);
  if (n <= kAloneMax || levels.empty()) {
    for (int rank = 0; rank < n; rank++)
      clusters.push_back({rank});
    return clusters;
  }
  const auto classes = classes_of(topology);
  std::map<std::pair<int, int>, std::vector<int>> by_kind;
  for (int rank = 0; rank < n; rank++)
    by_kind[{levels.front().of_node[static_cast<std::size_t>(rank)],
             classes[static_cast<std::size_t>(rank)]}]
        .push_back(rank);
  for (auto& [kind, members] : by_kind)
    clusters.push_back(std::move(members));
  return clusters;
}

class TreePacking {
 public:
  TreePacking(const Topology& topology, const Routes& routes, Collective collective,
              const Bound& bound, int parts)
      : routes_(routes),
        rooted_(collective != Collective::kAllReduce),
        prices_(topology, routes, 1 / bound.rate, collective == Collective::kReduceScatter),
        clusters_(clusters_of(topology)),
        cluster_of_(static_cast<std::size_t>(topology.ranks())),
        ranks_(topology.ranks()) {
    for (std::size_t c = 0; c < clusters_.size(); c++)
      for (const int rank : clusters_[c])
        cluster_of_[static_cast<std::size_t>(rank)] = c;
    trees_.resize(static_cast<std::size_t>(rooted_ ? ranks_ * parts : parts));
    for (std::size_t t = 0; t < trees_.size(); t++)
      trees_[t].release =
          rooted_ ? kReleaseSteps * static_cast<int>(t % static_cast<std::size_t>(parts))
                  : static_cast<int>(t);
    share_ = 1.0 / static_cast<double>(trees_.size());
    parts_ = parts;
  }

  std::optional<std::vector<Tree>> run() {
    std::vector<Tree> best;
    double best_load = std::numeric_limits<double>::infinity();
    for (const double steepness : kSteepness) {
      prices_.sharpen(steepness);
      for (std::size_t k = 0; k < trees_.size(); k++) {
        // Alternates between the roots, so that early roots do not use all cheap links.
        const std::size_t t =
            rooted_ ? k % static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(parts_) +
                          k / static_cast<std::size_t>(ranks_)
                    : k;
        charge(trees_[t], -share_);
        if (!route(t)) return std::nullopt;
        charge(trees_[t], share_);
      }
      if (prices_.highest_load() >= best_load) continue;
      best_load = prices_.highest_load();
      best = trees_;
      if (best_load < 1.001) break;
    }
    return best;
  }

 private:
  void charge(const Tree& tree, double share) {
    for (std::size_t rank = 0; rank < tree.parent.size(); rank++) {
      const int parent = tree.parent[rank];
      if (parent < 0) continue;
      prices_.add(parent, static_cast<int>(rank), share);
      if (!rooted_) prices_.add(static_cast<int>(rank), parent, share);
    }
  }

  bool route(std::size_t t) {
    const int root = rooted_ ? static_cast<int>(t) / parts_ : -1;
    std::vector<int> terminals;
    int root_index = 0;
    for (std::size_t c = 0; c < clusters_.size(); c++) {
      const auto& members = clusters_[c];
      const bool own = root >= 0 && cluster_of_[static_cast<std::size_t>(root)] == c;
      if (own) root_index = static_cast<int>(c);
      terminals.push_back(own ? root : members[t % members.size()]);
    }
    const auto price = [&](int from, int to) {
      const int a = terminals[static_cast<std::size_t>(from)],
                b = terminals[static_cast<std::size_t>(to)];
      return prices_.price(a, b) + (rooted_ ? 0 : prices_.price(b, a));
    };
    const auto parents =
        rooted_ ? cheapest_arborescence(static_cast<int>(terminals.size()), root_index, price)
                : cheapest_spanning_tree(static_cast<int>(terminals.size()), price);
    if (parents.empty()) return false;
    Tree& tree = trees_[t];
    tree.parent.assign(static_cast<std::size_t>(ranks_), -1);
    for (std::size_t c = 0; c < clusters_.size(); c++) {
      const int stands = terminals[c];
      if (parents[c] >= 0)
        tree.parent[static_cast<std::size_t>(stands)] =
            terminals[static_cast<std::size_t>(parents[c])];
      for (const int member : clusters_[c]) {
        if (member == stands) continue;
        if (!routes_.adjacent(stands, member) || !routes_.adjacent(member, stands)) return false;
        tree.parent[static_cast<std::size_t>(member)] = stands;
      }
    }
    return true;
  }

  const Routes& routes_;
  bool rooted_;
  LinkPrices prices_;
  std::vector<std::vector<int>> clusters_;
  std::vector<std::size_t> cluster_of_;
  int ranks_;
  int parts_ = 1;
  double share_ = 1;
  std::vector<Tree> trees_;
};

// One path of ranks for each piece of each pair's block.
class PathPacking {
 public:
  PathPacking(const Topology& topology, const Routes& routes, const Bound& bound, int parts)
      : prices_(topology, routes, 1 / bound.rate, false), ranks_(topology.ranks()), parts_(parts) {
    for (int part = 0; part < parts; part++) {
      for (int distance = 1; distance < ranks_; distance++)
        for (int from = 0; from < ranks_; from++)
          paths_.push_back({from, (from + distance) % ranks_, part, {}});
    }
    // With many ranks the share of each is small: all its paths are found at once.
    if (ranks_ <= kAloneMax) return;
    together_ = static_cast<std::size_t>(ranks_ - 1);
    std::stable_sort(paths_.begin(), paths_.end(), [](const Path& a, const Path& b) {
      return std::pair{a.part, a.from} < std::pair{b.part, b.from};
    });
  }

  std::optional<Schedule> run() {
    std::vector<Path> best;
    double best_load = std::numeric_limits<double>::infinity();
    for (const double steepness : kSteepness) {
      prices_.sharpen(steepness);
      for (std::size_t first = 0; first < paths_.size(); first += together_)
        if (!route(std::span(paths_).subspan(first, together_))) return std::nullopt;
      if (prices_.highest_load() >= best_load) continue;
      best_load = prices_.highest_load();
      best = paths_;
      if (best_load < 1.001) break;
    }
    return schedule_of(best);
  }

 private:
  struct Path {
    int from;
    int to;
    int part;
    std::vector<int> ranks;
  };

  // Routes paths that begin at the same rank.
  bool route(std::span<Path> paths) {
    const double share = 1.0 / ranks_ / parts_;
    for (const Path& path : paths)
      charge(path, -share);
    const auto before = cheapest_paths(ranks_, paths.front().from,
                                       [&](int a, int b) { return prices_.price(a, b); });
    if (before.empty()) return false;
    for (Path& path : paths) {
      path.ranks = path_to(path.to, before);
      charge(path, share);
    }
    return true;
  }

  void charge(const Path& path, double share) {
    for (std::size_t i = 1; i < path.ranks.size(); i++)
      prices_.add(path.ranks[i - 1], path.ranks[i], share);
  }

  Schedule schedule_of(const std::vector<Path>& paths) const {
    Schedule schedule;
    schedule.collective = Collective::kAllToAll;
    schedule.ranks = ranks_;
    schedule.units = parts_;
    for (const Path& path : paths) {
      const Range chunk{static_cast<int>(schedule.chunks.size()), 1};
      schedule.chunks.push_back({path.part, 1, path.from, path.to});
      for (std::size_t i = 1; i < path.ranks.size(); i++)
        schedule.add(static_cast<int>(i) - 1 + path.part, path.ranks[i - 1], path.ranks[i], false,
                     chunk);
    }
    schedule.sort_by_step();
    return schedule;
  }

  LinkPrices prices_;
  int ranks_;
  int parts_;
  std::size_t together_ = 1;  // number of paths found at once
  std::vector<Path> paths_;
};

}  // namespace

std::optional<Recipe> pack(const Topology& topology, const Routes& routes, Collective collective,
                           const Bound& bound, int parts) {
  if (topology.ranks() < 2) return std::nullopt;
  Recipe recipe;
  if (collective == Collective::kAllToAll) {
    auto schedule = PathPacking(topology, routes, bound, parts).run();
    if (!schedule) return std::nullopt;
    recipe.name = "packed paths";
    recipe.family = Family::kExplicit;
    recipe.schedule = std::move(*schedule);
    return recipe;
  }
  recipe.name = "packed trees";
  recipe.family = Family::kTrees;
  if (auto trees = TreePacking(topology, routes, collective, bound, parts).run()) {
    recipe.trees = std::move(*trees);
    return recipe;
  }
  if (collective != Collective::kAllReduce) return std::nullopt;
  // One-way links: copies use other trees than sums.
  const int each = std::max(parts / topology.ranks(), 1);
  auto down = TreePacking(topology, routes, Collective::kAllGather, bound, each).run();
  auto up = TreePacking(topology, routes, Collective::kReduceScatter, bound, each).run();
  if (!down || !up) return std::nullopt;
  recipe.trees = std::move(*down);
  recipe.reducing = std::move(*up);
  return recipe;
}

}  // namespace dlcp::synth
