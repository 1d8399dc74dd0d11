// A struct of counters and the table of its rows, both from one list: a counter is one line. A list
// is a macro that takes what to make of each entry, X(name, "what it counts, or where to look").
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

// What the struct makes of an entry.
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
