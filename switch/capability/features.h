// Which targets support which features of switch/model/features.h, per release and ASIC, each with
// the address of its source: the `features` of switch/targets/NAME.json.
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
  std::vector<std::string> asics;  // empty: all ASICs of the target
  std::vector<std::string> modes;  // of load_balancing: "flowlet", "packet"
  std::uint64_t min = 0, max = 0;  // range of the feature's number; max 0: unlimited
  std::uint64_t step = 1;          // the number must be a multiple of this
  int queue = -1;                  // queue that trimmed packets must use; -1: chosen by the intent
  bool own_rows = false;           // configuration rows without a name that identifies their owner
  std::string how;                 // description of the configuration that is written
  std::string source;
};

const std::vector<FeatureRow>& feature_rows();

// The row that supports the request. Error if none does; it names the targets that do, and the
// remedy.
struct FeatureAsked {
  std::string os, version, asic;
  std::string feature, mode;  // mode: only for load_balancing, else empty
};
Checked<FeatureRow> find_feature(const FeatureAsked& asked);

std::string feature_table_text();  // Markdown

}  // namespace dlcp::fabric
