// A Grafana dashboard of a fabric's queues, over the series that rules_text() records.
#pragma once

#include <string>
#include <vector>

#include "switch/telemetry/watch.h"

namespace dlcp::fabric::telemetry {

// JSON for Grafana's import: a row of panels for each kind of traffic in the fabric's queues.
std::string dashboard_text(const std::string& fabric, const std::vector<Watch>& watches);

}  // namespace dlcp::fabric::telemetry
