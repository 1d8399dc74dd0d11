#include "synth/flow/parametric_flow.h"

#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include <limits>
#include <numeric>

namespace dlcp::synth {

ParametricFlow::Cut ParametricFlow::cut_at(int source, int sink, std::int64_t demand,
                                           std::int64_t numerator, std::int64_t denominator) const {
  lemon::SmartDigraph graph;
  for (int i = 0; i < nodes_; i++)
    graph.addNode();
  lemon::SmartDigraph::ArcMap<std::int64_t> capacity(graph);
  for (const Arc& arc : arcs_)
    capacity[graph.addArc(graph.nodeFromId(arc.from), graph.nodeFromId(arc.to))] =
        (arc.fixed == kUnlimited ? sum_ + 1 : arc.fixed) * denominator + arc.growing * numerator;
  lemon::Preflow<lemon::SmartDigraph, lemon::SmartDigraph::ArcMap<std::int64_t>> flow(
      graph, capacity, graph.nodeFromId(source), graph.nodeFromId(sink));
  flow.runMinCut();
  Cut cut{flow.flowValue() >= demand * numerator, 0, 0};
  for (const Arc& arc : arcs_) {
    if (!flow.minCut(graph.nodeFromId(arc.from)) || flow.minCut(graph.nodeFromId(arc.to))) continue;
    cut.fixed += arc.fixed == kUnlimited ? 0 : arc.fixed;
    cut.growing += arc.growing;
  }
  return cut;
}

double ParametricFlow::largest(int source, int sink, std::int64_t demand) const {
  // Begins above the capacity of any cut. Each cut found gives a smaller x, until the network
  // carries x.
  std::int64_t numerator = sum_ + 1, denominator = 1;
  if (demand <= 0) return std::numeric_limits<double>::infinity();
  for (;;) {
    const Cut cut = cut_at(source, sink, demand, numerator, denominator);
    if (cut.carried) break;
    numerator = cut.fixed;
    denominator = demand - cut.growing;
    if (numerator == 0) return 0;
    const std::int64_t common = std::gcd(numerator, denominator);
    numerator /= common;
    denominator /= common;
  }
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

}  // namespace dlcp::synth
