// The result of a synthesis, as a table and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "synth/search/synthesis.h"

namespace dlcp::cli {

struct SynthReport {
  const synth::Topology& topology;
  const synth::Synthesis& synthesis;
  double seconds;  // duration of the synthesis

  std::string to_text() const;
  nlohmann::ordered_json to_json() const;
};

std::string time_text(double seconds);
std::string algorithm_text(const synth::Recipe& recipe);

}  // namespace dlcp::cli
