// The rows of the capability table as a list, for programs.
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
  bool separate_knee = false;    // the ECN knee may differ from the drop depth
  int control_plane_queue = -1;  // must not mark or drop early; -1: none
  std::string checked_by;
  std::vector<std::string> releases;           // releases whose documentation or models were read
  std::map<std::string, std::string> sources;  // by the capability's name
  std::vector<FeatureRow> features;
};

std::vector<TargetRow> known_targets();

}  // namespace dlcp::fabric
