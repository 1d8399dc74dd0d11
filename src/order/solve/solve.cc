#include "order/solve/solve.h"

#include <algorithm>
#include <numeric>

#include "order/solve/hierarchy.h"
#include "order/solve/swap_search.h"

namespace dlcp::order {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

// An uplink of unknown rate is assumed to carry a quarter of its hosts' rate. Orders can then still
// be compared, although no times are predicted.
constexpr double kAssumedShare = 0.25;
constexpr double kNoLoss = 0.999;

fabric::Fabric with_assumed_capacities(fabric::Fabric fabric) {
  const auto members = fabric::members(fabric);
  for (fabric::Host& host : fabric.hosts)
    if (host.gb_per_s <= 0) host.gb_per_s = 1;
  for (std::size_t g = 1; g < fabric.groups.size(); ++g) {
    double hosts = 0;
    for (const int host : members[g])
      hosts += fabric.hosts[at(host)].gb_per_s;
    if (fabric.groups[g].uplink_gb_per_s <= 0)
      fabric.groups[g].uplink_gb_per_s = hosts * kAssumedShare;
  }
  return fabric;
}

class Solver {
 public:
  Solver(const fabric::Fabric& fabric, const std::vector<int>& given, const SolveOptions& options)
      : fabric_(fabric), assumed_(with_assumed_capacities(fabric)), options_(options) {
    for (const int host : given)
      (fabric.hosts[at(host)].silent ? silent_ : given_).push_back(host);
    const int nodes = static_cast<int>(given_.size());
    patterns_ = {ring(nodes), double_tree(nodes), pat(nodes)};
    if (options.mesh) patterns_.insert(patterns_.begin(), mesh_pattern(*options.mesh));
  }

  Solution run() {
    Solution solution;
    std::vector<int> best = given_;
    double least = score(given_);
    for (auto& candidate : candidates()) {
      const double own = score(candidate);
      if (own >= least) continue;
      least = own;
      best = std::move(candidate);
    }
    compare(best, solution);
    solution.kept = best == given_ || !gains(solution);
    if (solution.kept && best != given_) {
      best = given_;
      solution.comparisons.clear();
      compare(best, solution);
    }
    solution.gain = solution.comparisons.front().gain();
    solution.crossings_before = crossings(fabric_, given_);
    solution.crossings_after = crossings(fabric_, best);
    solution.order = std::move(best);
    solution.order.insert(solution.order.end(), silent_.begin(), silent_.end());
    return solution;
  }

 private:
  // The main pattern decides; the other patterns and latency distinguish orders that are equal in
  // it.
  double score(const std::vector<int>& order) const {
    double sum = 0, weight = 1;
    for (const Pattern& pattern : patterns_) {
      const Cost cost = cost_of(assumed_, order, pattern);
      sum += weight * (cost.seconds + 1e-9 * cost.latency_us);
      weight /= 100;
    }
    return sum;
  }

  std::vector<std::vector<int>> candidates() const {
    std::vector<std::vector<int>> all;
    for (const Siblings siblings : {Siblings::kAsGiven, Siblings::kLargestFirst})
      all.push_back(hierarchical(fabric_, given_, siblings, options_.distances));
    if (!options_.mesh) return all;
    const std::vector<int> contiguous = all.front();
    for (std::size_t axis = 0; axis < options_.mesh->size(); ++axis)
      all.push_back(along(axis, contiguous));
    std::ranges::sort(all, {}, [this](const auto& order) { return score(order); });
    all.resize(std::min<std::size_t>(all.size(), 2));
    for (auto& order : all)
      order = improve_by_swaps(assumed_, std::move(order), patterns_.front(), options_.seed);
    return all;
  }

  // Assigns hosts along one axis first, so that its groups share leaves.
  std::vector<int> along(std::size_t axis, const std::vector<int>& hosts) const {
    const int stride = stride_of(*options_.mesh, axis);
    const int size = (*options_.mesh)[axis].size;
    std::vector<int> order(hosts.size());
    std::size_t next = 0;
    for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
      if (rank / stride % size != 0) continue;
      for (int i = 0; i < size; ++i)
        order[at(rank + i * stride)] = hosts[next++];
    }
    return order;
  }

  void compare(const std::vector<int>& order, Solution& solution) const {
    for (const Pattern& pattern : patterns_)
      solution.comparisons.push_back({pattern.name, cost_of(fabric_, given_, pattern),
                                      cost_of(fabric_, order, pattern),
                                      bound_seconds(fabric_, order, pattern)});
    const Cost all = all_to_all_cost(fabric_, order);
    solution.comparisons.push_back({"alltoall", all, all, all.seconds});
  }

  // In bytes or in RTTs. RTTs matter for small messages, and are measured even where capacities are
  // not. The main pattern must not lose.
  bool gains(const Solution& solution) const {
    if (solution.comparisons.front().gain() < kNoLoss) return false;
    return std::ranges::any_of(solution.comparisons, [this](const Comparison& one) {
      return one.gain() >= options_.gain_min ||
             (one.gain() >= kNoLoss && one.latency_gain() >= options_.gain_min);
    });
  }

  const fabric::Fabric& fabric_;
  const fabric::Fabric assumed_;
  const SolveOptions& options_;
  std::vector<int> given_, silent_;
  std::vector<Pattern> patterns_;  // the main one first
};

}  // namespace

Solution solve(const fabric::Fabric& fabric, const std::vector<int>& given,
               const SolveOptions& options) {
  return Solver(fabric, given, options).run();
}

}  // namespace dlcp::order
