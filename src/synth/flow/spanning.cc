#include "synth/flow/spanning.h"

#include <lemon/min_cost_arborescence.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlcp::synth {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Dijkstra's or Prim's algorithm on a dense graph; `cost` gives a node's cost. Returns parents.
template <class Cost>
std::vector<int> grow(int nodes, int start, Cost cost) {
  const auto n = static_cast<std::size_t>(nodes);
  std::vector<double> best(n, kInfinite);
  std::vector<int> parent(n, -1);
  std::vector<bool> taken(n);
  best[static_cast<std::size_t>(start)] = 0;
  for (int round = 0; round < nodes; round++) {
    int next = -1;
    for (int i = 0; i < nodes; i++) {
      const auto at = static_cast<std::size_t>(i);
      if (!taken[at] && best[at] < kInfinite &&
          (next < 0 || best[at] < best[static_cast<std::size_t>(next)]))
        next = i;
    }
    if (next < 0) return {};
    taken[static_cast<std::size_t>(next)] = true;
    for (int i = 0; i < nodes; i++) {
      const auto at = static_cast<std::size_t>(i);
      if (taken[at]) continue;
      const double price = cost(best[static_cast<std::size_t>(next)], next, i);
      if (price >= best[at]) continue;
      best[at] = price;
      parent[at] = next;
    }
  }
  return parent;
}

// The farthest node from `start` over the edges of a tree, and the path back from it.
std::vector<int> farthest_way(const std::vector<std::vector<int>>& beside, int start) {
  std::vector<int> from(beside.size(), -2);
  std::vector<int> open{start};
  from[static_cast<std::size_t>(start)] = -1;
  for (std::size_t i = 0; i < open.size(); i++) {
    for (const int other : beside[static_cast<std::size_t>(open[i])]) {
      if (from[static_cast<std::size_t>(other)] != -2) continue;
      from[static_cast<std::size_t>(other)] = open[i];
      open.push_back(other);
    }
  }
  std::vector<int> way;
  for (int at = open.back(); at >= 0; at = from[static_cast<std::size_t>(at)])
    way.push_back(at);
  return way;
}

}  // namespace

std::vector<int> cheapest_arborescence(int nodes, int root, const Price& price) {
  lemon::SmartDigraph graph;
  graph.reserveNode(nodes);
  for (int i = 0; i < nodes; i++)
    graph.addNode();
  lemon::SmartDigraph::ArcMap<double> cost(graph);
  for (int a = 0; a < nodes; a++) {
    for (int b = 0; b < nodes; b++) {
      if (a == b || b == root) continue;
      const double one = price(a, b);
      if (std::isfinite(one)) cost[graph.addArc(graph.nodeFromId(a), graph.nodeFromId(b))] = one;
    }
  }
  lemon::MinCostArborescence<lemon::SmartDigraph, lemon::SmartDigraph::ArcMap<double>> search(graph,
                                                                                              cost);
  search.run(graph.nodeFromId(root));
  std::vector<int> parent(static_cast<std::size_t>(nodes), -1);
  for (int i = 0; i < nodes; i++) {
    if (i == root) continue;
    if (!search.reached(graph.nodeFromId(i))) return {};
    parent[static_cast<std::size_t>(i)] = graph.id(graph.source(search.pred(graph.nodeFromId(i))));
  }
  return parent;
}

std::vector<int> cheapest_spanning_tree(int nodes, const Price& price) {
  const auto grown = grow(nodes, 0, [&](double, int from, int to) { return price(from, to); });
  if (grown.empty()) return {};
  std::vector<std::vector<int>> beside(grown.size());
  for (std::size_t i = 0; i < grown.size(); i++) {
    if (grown[i] < 0) continue;
    beside[i].push_back(grown[i]);
    beside[static_cast<std::size_t>(grown[i])].push_back(static_cast<int>(i));
  }
  // The middle of a longest path is the centre.
  const auto longest = farthest_way(beside, farthest_way(beside, 0).front());
  std::vector<int> parent(grown.size(), -2);
  std::vector<int> open{longest[longest.size() / 2]};
  parent[static_cast<std::size_t>(open[0])] = -1;
  for (std::size_t i = 0; i < open.size(); i++) {
    for (const int other : beside[static_cast<std::size_t>(open[i])]) {
      if (parent[static_cast<std::size_t>(other)] != -2) continue;
      parent[static_cast<std::size_t>(other)] = open[i];
      open.push_back(other);
    }
  }
  return parent;
}

std::vector<int> cheapest_paths(int nodes, int from, const Price& price) {
  return grow(
      nodes, from, [&](double so_far, int a, int b) { return so_far + price(a, b); });
}

std::vector<int> path_to(int to, const std::vector<int>& before) {
  std::vector<int> path;
  for (int at = to; at >= 0; at = before[static_cast<std::size_t>(at)])
    path.push_back(at);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace dlcp::synth
