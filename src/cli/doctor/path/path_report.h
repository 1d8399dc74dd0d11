// The consequences of a PathMeasurement for the plugin: findings, and a table of the paths.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/doctor/finding.h"
#include "cli/doctor/path/path_probe.h"

namespace dlcp::cli {

Findings judge(const PathMeasurement& measurement);

// The worst `rows` paths, one line each under a heading, and the number of paths not shown.
std::string lane_table(const PathMeasurement& measurement, std::size_t rows);
nlohmann::json to_json(const PathMeasurement& measurement);

}  // namespace dlcp::cli
