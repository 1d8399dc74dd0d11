// How the counters of a fabric reach Prometheus: files for its scrape and for gnmic, and the names
// of everything, for those who collect with something else.
#pragma once

#include <string>
#include <vector>

#include "switch/model/text_file.h"
#include "switch/telemetry/watch.h"

namespace dlcp::fabric::telemetry {

// names.json, TELEMETRY.md, and what the fabric's systems need of targets.json, gnmic.json,
// sonic-queue-counters.py.
std::vector<TextFile> collection_files(const std::string& fabric,
                                       const std::vector<Watch>& watches);

// The answer that `verify --captured` reads: the last five minutes of one switch.
std::string query_of(const std::string& switch_name);

}  // namespace dlcp::fabric::telemetry
