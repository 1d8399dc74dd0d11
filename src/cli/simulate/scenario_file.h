// Scenarios as YAML: fabric, transports, load, faults and seeds (docs/simulation.md).
#pragma once

#include <functional>
#include <string>

#include "simulate/scenario.h"
#include "util/result.h"

namespace dlcp::cli {

// `source` names the text in errors; `read` gets the text of another file that it names, a path as
// it is written there.
Result<simulate::Scenario> parse_scenario(
    const std::string& text, const std::string& source,
    const std::function<Result<std::string>(const std::string& path)>& read);

// From a file; what it names lies beside it.
Result<simulate::Scenario> read_scenario(const std::string& path);

}  // namespace dlcp::cli
