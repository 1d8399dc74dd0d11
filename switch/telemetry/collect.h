// Collection of a fabric's counters into Prometheus: files for its scrape and for gnmic, and the
// names of all counters for other collectors.
#pragma once

#include <string>
#include <vector>

#include "switch/model/text/text_file.h"
#include "switch/telemetry/watch.h"

namespace dlcp::fabric::telemetry {

// names.json, TELEMETRY.md, and those of targets.json, gnmic.json and sonic-queue-counters.py that
// the fabric's systems need.
std::vector<TextFile> collection_files(const std::string& fabric,
                                       const std::vector<Watch>& watches);

// The query for `verify --captured`: the last five minutes of one switch.
std::string query_of(const std::string& switch_name);

}  // namespace dlcp::fabric::telemetry
