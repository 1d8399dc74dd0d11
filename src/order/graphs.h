// The two graph algorithms that ordering needs, from LEMON: a cut that no group of ranks can do
// below, and a short tour through places with distances. C++17: LEMON 1.3 does not compile as
// C++20.
#pragma once

#include <vector>

namespace dlcp::order {

struct Arc {
  int from, to;
  double capacity;  // 0 .. 10^9, to nine decimals
};

// What at least leaves any set of nodes that is neither empty nor all of them (Hao and Orlin 1994).
double least_cut(int nodes, const std::vector<Arc>& arcs);

// The places in an order whose closed tour is short (2-opt from the order given): exact for up to
// three, and no longer than the given order. `distances`: row by row, places * places
// whole numbers up to 10^15.
std::vector<int> short_tour(int places, const std::vector<double>& distances);

}  // namespace dlcp::order
