// The rows of the capability table as a list, for those who read it by program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switch/capability/features.h"

namespace dlcp::fabric {

struct TargetRow {
  std::string os, since;  // since: the first version, in words: ">= 202205"
  std::vector<std::string> asics;
  int levels_per_queue = 1;
  std::string mechanism;         // "colour", "ECT", "queues"
  bool separate_knee = false;    // ECN knee apart from the drop depth
  int control_plane_queue = -1;  // kept free of what marks or drops; -1: none
  std::string checked_by;
  std::vector<std::string> releases;           // those whose documentation or models were read
  std::map<std::string, std::string> sources;  // of capabilities, by their name
  std::vector<FeatureRow> features;
};

std::vector<TargetRow> known_targets();

}  // namespace dlcp::fabric
