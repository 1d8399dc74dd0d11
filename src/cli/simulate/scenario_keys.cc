#include "cli/simulate/scenario_keys.h"

#include <fmt/format.h>

#include "util/text/quantity.h"

namespace dlcp::cli {

using synth::count_of;
using synth::refuse;
using synth::text_of;

double gbit_of(const YAML::Node& node, const char* key) {
  const double gbit = synth::rate_of(node, key) * 8e-9;
  if (gbit < 0.001 || gbit > 100'000)
    refuse(node, fmt::format("{} is '{}'", key, node.Scalar()),
           "give 1M to 100T (bits per second)");
  return gbit;
}

Duration time_of(const YAML::Node& node, const char* key) {
  const auto time = parse_duration(text_of(node, key), 1us);
  if (!time || *time > 1h)
    refuse(node, fmt::format("{} is '{}'", key, node.Scalar()),
           fmt::format("give {}, at most one hour", kDurationExample));
  return *time;
}

double share_of(const YAML::Node& node, const char* key, double most) {
  const auto share = parse_share(text_of(node, key));
  if (!share || *share > most)
    refuse(node, fmt::format("{} is '{}'", key, node.Scalar()),
           fmt::format("give {}, at most {:g}", kShareExample, most));
  return *share;
}

std::uint64_t bytes_of(const YAML::Node& node, const char* key, std::uint64_t most) {
  const auto bytes = parse_bytes(text_of(node, key));
  if (!bytes || *bytes == 0 || *bytes > most)
    refuse(node, fmt::format("{} is '{}'", key, node.Scalar()),
           fmt::format("give {}, at most {} bytes", kBytesExample, most));
  return *bytes;
}

YAML::Node wanted(const YAML::Node& map, const char* key, const char* hint) {
  const YAML::Node node = map[key];
  if (!node) refuse(map, fmt::format("'{}' is missing", key), hint);
  return node;
}

int count_or(const YAML::Node& map, const char* key, int other, int least, int most) {
  return map[key] ? count_of(map[key], key, least, most) : other;
}

}  // namespace dlcp::cli
