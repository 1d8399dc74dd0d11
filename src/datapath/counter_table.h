// Defines a struct of counters and the table of its rows from the same list, so that each counter
// is a single line. A list is a macro with one entry per counter, X(name, "what it counts, or where
// to look").
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "datapath/datapath.h"

namespace dlcp::datapath {

template <class Counters>
struct CounterRow {
  std::string_view name;
  std::string_view help;
  std::uint64_t Counters::*counter;
};

// The struct's member for an entry.
#define DLCP_COUNTER_FIELD(name, help) std::uint64_t name = 0;

template <class Counters>
std::vector<NamedCount> counts_of(const Counters& counters,
                                  std::span<const CounterRow<Counters>> rows) {
  std::vector<NamedCount> counts;
  for (const auto& row : rows)
    counts.push_back({row.name, counters.*row.counter});
  return counts;
}

}  // namespace dlcp::datapath
