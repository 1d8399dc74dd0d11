// Reads scenarios from YAML: fabric, transports, load, faults and seeds (docs/simulation.md).
#pragma once

#include <functional>
#include <string>

#include "simulate/scenario.h"
#include "util/result.h"

namespace dlcp::cli {

// `source` names the text in errors; `read` returns the text of another file that the scenario
// names, by the path written there.
Result<simulate::Scenario> parse_scenario(
    const std::string& text, const std::string& source,
    const std::function<Result<std::string>(const std::string& path)>& read);

// From a file. Paths in it are relative to its folder.
Result<simulate::Scenario> read_scenario(const std::string& path);

}  // namespace dlcp::cli
