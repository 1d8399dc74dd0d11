// Parses values of a scenario's keys. Invalid values are rejected with their line, as synth::refuse
// does.
#pragma once

#include <cstdint>

#include "synth/input/yaml_text.h"
#include "util/time.h"

namespace dlcp::cli {

double gbit_of(const YAML::Node& node, const char* key);
Duration time_of(const YAML::Node& node, const char* key);  // at most an hour
double share_of(const YAML::Node& node, const char* key, double most);
std::uint64_t bytes_of(const YAML::Node& node, const char* key, std::uint64_t most);  // not 0
YAML::Node wanted(const YAML::Node& map, const char* key, const char* hint);
int count_or(const YAML::Node& map, const char* key, int other, int least, int most);

}  // namespace dlcp::cli
