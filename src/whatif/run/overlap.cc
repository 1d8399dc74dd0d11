#include "whatif/run/overlap.h"

#include <algorithm>
#include <cstddef>

namespace dlcp::whatif {
namespace {

struct Edge {
  std::int64_t at;
  std::size_t record;
  bool begins;
};

}  // namespace

// One sweep over all begins and ends sums the time with two or more records in flight. A record's
// share is the difference of that sum between its end and its begin.
void find_overlaps(std::vector<Record>& records) {
  std::vector<Edge> edges;
  edges.reserve(2 * records.size());
  for (std::size_t i = 0; i < records.size(); i++) {
    edges.push_back({records[i].start_ns, i, true});
    edges.push_back({records[i].end_ns, i, false});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::int64_t shared = 0;
  std::int64_t previous = edges.empty() ? 0 : edges[0].at;
  std::size_t in_flight = 0;
  for (const Edge& edge : edges) {
    if (in_flight > 1) shared += edge.at - previous;
    previous = edge.at;
    std::int64_t& overlap = records[edge.record].overlap_ns;
    overlap = edge.begins ? -shared : overlap + shared;
    in_flight = edge.begins ? in_flight + 1 : in_flight - 1;
  }
}

}  // namespace dlcp::whatif
