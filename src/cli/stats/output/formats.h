// The formats in which `dlcp stats` prints processes.
#pragma once

#include <string>
#include <vector>

#include "cli/stats/pages/snapshot.h"

namespace dlcp::cli {

// Tables of at most 80 columns.
std::string to_table(const std::vector<ProcessSnapshot>& processes);
std::string to_path_table(const std::vector<ProcessSnapshot>& processes);
std::string to_json(const std::vector<ProcessSnapshot>& processes);
// Prometheus' text exposition format 0.0.4; `host` becomes a label. Some metrics are present
// without any process.
std::string to_prometheus(const std::vector<ProcessSnapshot>& processes, const std::string& host);

}  // namespace dlcp::cli
