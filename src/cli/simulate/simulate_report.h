// Prints figures and validation tables, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "simulate/experiment/figure.h"
#include "simulate/validation.h"

namespace dlcp::cli {

std::string figure_text(const simulate::Figure& figure);
// {figure, title, parameters, seeds, rows: [{case, transport, metric, unit, value, low, high}],
// notes}
nlohmann::ordered_json figure_json(const simulate::Figure& figure);

std::string checks_text(const std::vector<simulate::Check>& checks);
// An array of {name, unit, expected, measured, tolerance, ok, source}.
nlohmann::ordered_json checks_json(const std::vector<simulate::Check>& checks);

}  // namespace dlcp::cli
