// Two graph algorithms for ordering, from LEMON: the minimum cut of a graph, and a short tour
// through places with distances. C++17: LEMON 1.3 does not compile as C++20.
#pragma once

#include <vector>

namespace dlcp::order {

struct Arc {
  int from, to;
  double capacity;  // 0 .. 10^9, to nine decimals
};

// The minimum capacity of arcs that leave a set of nodes, over all sets except the empty and the
// full one (Hao and Orlin 1994).
double least_cut(int nodes, const std::vector<Arc>& arcs);

// An order of the places whose closed tour is short (2-opt from the given order). Optimal for up to
// three places, and never longer than the given order. `distances`: row by row, places * places
// whole numbers up to 10^15.
std::vector<int> short_tour(int places, const std::vector<double>& distances);

}  // namespace dlcp::order
