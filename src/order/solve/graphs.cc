#include "order/solve/graphs.h"

#include <lemon/full_graph.h>
#include <lemon/hao_orlin.h>
#include <lemon/opt2_tsp.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>

namespace dlcp::order {
namespace {

// LEMON compares doubles with a tolerance that is compiled into its library; integers need none.
using Whole = long long;
constexpr double kScale = 1e9;

}  // namespace

double least_cut(int nodes, const std::vector<Arc>& arcs) {
  if (nodes < 2 || arcs.empty()) return 0;
  lemon::SmartDigraph graph;
  graph.reserveNode(nodes);
  graph.reserveArc(static_cast<int>(arcs.size()));
  for (int i = 0; i < nodes; ++i)
    graph.addNode();
  lemon::SmartDigraph::ArcMap<Whole> capacity(graph);
  for (const Arc& arc : arcs)
    capacity[graph.addArc(lemon::SmartDigraph::nodeFromId(arc.from),
                          lemon::SmartDigraph::nodeFromId(arc.to))] =
        static_cast<Whole>(arc.capacity * kScale);
  lemon::HaoOrlin<lemon::SmartDigraph, lemon::SmartDigraph::ArcMap<Whole>> cut(graph, capacity);
  cut.run();
  return static_cast<double>(cut.minCutValue()) / kScale;
}

std::vector<int> short_tour(int places, const std::vector<double>& distances) {
  std::vector<int> order(static_cast<std::size_t>(places));
  std::iota(order.begin(), order.end(), 0);
  if (places < 4) return order;
  const lemon::FullGraph graph(places);
  lemon::FullGraph::EdgeMap<Whole> cost(graph);
  for (int a = 0; a < places; ++a) {
    for (int b = a + 1; b < places; ++b)
      cost[graph.edge(graph(a), graph(b))] =
          static_cast<Whole>(distances[static_cast<std::size_t>(a * places + b)]);
  }
  lemon::Opt2Tsp<lemon::FullGraph::EdgeMap<Whole>> tour(graph, cost);
  std::vector<lemon::FullGraph::Node> nodes;
  for (const int place : order)
    nodes.push_back(graph(place));
  tour.run(nodes);
  nodes.clear();
  tour.tourNodes(std::back_inserter(nodes));
  std::transform(nodes.begin(), nodes.end(), order.begin(),
                 [&](lemon::FullGraph::Node node) { return graph.index(node); });
  std::rotate(order.begin(), std::find(order.begin(), order.end(), 0), order.end());
  return order;
}

}  // namespace dlcp::order
