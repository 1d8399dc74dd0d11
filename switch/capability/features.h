// Which targets can do what of switch/model/features.h, per release and ASIC,
// each with the address it was read at: the `features` of
// switch/targets/NAME.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switch/model/problem.h"

namespace dlcp::fabric {

struct FeatureRow {
  std::string os;
  std::string feature;             // "hash_seed", "load_balancing", "trimming", "pfc_watchdog"
  std::string since;               // first release, as written; empty: all
  std::vector<std::string> asics;  // empty: all that the target drives
  std::vector<std::string> modes;  // of load_balancing: "flowlet", "packet"
  std::uint64_t min = 0, max = 0;  // of the number that goes with it; max 0: any
  std::uint64_t step = 1;          // and a multiple of this
  int queue = -1;                  // where trimmed packets must leave; -1: where one asks
  bool own_rows = false;           // of the configuration, with no name that says whose they are
  std::string how;                 // what is written
  std::string source;
};

const std::vector<FeatureRow>& feature_rows();

// The row that serves; an error that names who can, and what to do, where none
// does.
struct FeatureAsked {
  std::string os, version, asic;
  std::string feature, mode;  // mode: of load_balancing; else empty
};
Checked<FeatureRow> find_feature(const FeatureAsked& asked);

std::string feature_table_text();  // Markdown

}  // namespace dlcp::fabric
