// Prints the answer of `dlcp whatif` as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "whatif/predict/predict.h"

namespace dlcp::cli {

// The range, "-" if it is a point.
std::string range_text(const whatif::Estimate& estimate);
// How much shorter the step becomes: "12%", "-3%".
std::string gain_text(const whatif::Answer& answer, const whatif::Prediction& prediction);
std::string steps_text(const whatif::Answer& answer);    // a sentence
std::string network_text(const whatif::Answer& answer);  // a sentence
std::string ratios_text(const whatif::Answer& answer);   // a sentence

std::string whatif_text(const whatif::Answer& answer);
nlohmann::ordered_json whatif_json(const whatif::Answer& answer);

}  // namespace dlcp::cli
