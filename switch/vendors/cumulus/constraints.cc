// What NVUE accepts of what DLCP writes: leaves, their ranges and words, from the NVUE command
// reference ("nv set qos ..."). Checked on every render; a leaf that no row describes is refused.
#include <fmt/format.h>

#include "switch/vendors/cumulus/document.h"

namespace dlcp::fabric::cumulus {
namespace {

struct Leaf {
  const char* path;  // '*' stands for one part, '#' for one number up to key_max
  int key_max;
  std::uint64_t min, max;
  const char* words;  // "|a|b|": one of these instead of a number; "": a number; "*": any name
};

constexpr std::uint64_t kBytesMax = 4'294'967'295;
constexpr std::uint64_t kRateMax = 2'147'483'647;  // kbps; the default of max-rate
constexpr const char* kSwitch = "|enable|disable|";

constexpr Leaf kLeaves[] = {
    {"qos/mapping/*/trust", 0, 0, 0, "|l2|l3|port|both|"},
    {"qos/mapping/*/port-default-sp", 0, 0, 7, ""},
    {"qos/mapping/*/dscp/#/switch-priority", 63, 0, 7, ""},
    {"qos/mapping/*/pcp/#/switch-priority", 7, 0, 7, ""},
    {"qos/egress-queue-mapping/*/switch-priority/#/traffic-class", 7, 0, 7, ""},
    {"qos/congestion-control/*/traffic-class/#/min-threshold", 7, 1, kBytesMax, ""},
    {"qos/congestion-control/*/traffic-class/#/max-threshold", 7, 1, kBytesMax, ""},
    {"qos/congestion-control/*/traffic-class/#/probability", 7, 0, 100, ""},
    {"qos/congestion-control/*/traffic-class/#/ecn", 7, 0, 0, kSwitch},
    {"qos/congestion-control/*/traffic-class/#/red", 7, 0, 0, kSwitch},
    {"qos/egress-scheduler/*/traffic-class/#/mode", 7, 0, 0, "|dwrr|strict|"},
    {"qos/egress-scheduler/*/traffic-class/#/bw-percent", 7, 1, 100, ""},
    {"qos/egress-shaper/*/traffic-class/#/min-rate", 7, 0, kRateMax, ""},
    {"qos/egress-shaper/*/traffic-class/#/max-rate", 7, 1, kRateMax, ""},
    {"qos/egress-shaper/*/port-max-rate", 0, 0, kRateMax, ""},
    {"interface/*/qos/mapping/profile", 0, 0, 0, "*"},
    {"interface/*/qos/congestion-control/profile", 0, 0, 0, "*"},
    {"interface/*/qos/egress-scheduler/profile", 0, 0, 0, "*"},
    {"interface/*/qos/egress-shaper/profile", 0, 0, 0, "*"},
    {"system/forwarding/ecmp-hash/source-port", 0, 0, 0, "|on|off|enabled|disabled|"},
    {"router/adaptive-routing/enable", 0, 0, 0, "|on|off|"},  // to 5.14
    {"router/adaptive-routing/state", 0, 0, 0, "|enabled|disabled|"},
    {"interface/*/router/adaptive-routing/enable", 0, 0, 0, "|on|off|"},
    {"interface/*/router/adaptive-routing/state", 0, 0, 0, "|enabled|disabled|"},
};

std::string_view next_part(std::string_view& rest) {
  const auto slash = rest.find('/');
  const auto part = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  return part;
}

bool fits(const Leaf& leaf, std::string_view path) {
  std::string_view pattern = leaf.path;
  while (!pattern.empty() && !path.empty()) {
    const auto wanted = next_part(pattern);
    const auto part = next_part(path);
    if (wanted == "*") continue;
    if (wanted == "#") {
      if (part.empty() || part.size() > 2 || part.find_first_not_of("0123456789") != part.npos)
        return false;
      if (std::stoi(std::string(part)) > leaf.key_max) return false;
    } else if (wanted != part) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

std::string expected_of(const Leaf& leaf, const std::string& value) {
  const std::string_view words = leaf.words;
  if (words == "*") return value.empty() ? "a name" : "";
  if (!words.empty())
    return words.find("|" + value + "|") != words.npos ? "" : fmt::format("one of {}", words);
  const bool number =
      !value.empty() && value.size() < 19 && value.find_first_not_of("0123456789") == value.npos;
  if (number && std::stoull(value) >= leaf.min && std::stoull(value) <= leaf.max) return "";
  return fmt::format("{}..{}", leaf.min, leaf.max);
}

}  // namespace

std::vector<Problem> check_leaves(const std::vector<Patch>& patches) {
  std::vector<Problem> problems;
  for (const auto& patch : patches)
    for (const auto& change : patch.leaves) {
      if (!change.after) continue;
      std::string expected = "a leaf that NVUE has";
      for (const auto& leaf : kLeaves)
        if (fits(leaf, change.path)) expected = expected_of(leaf, *change.after);
      if (expected.empty()) continue;
      problems.push_back({Severity::kError, "", 0, change.path + " would not be accepted by NVUE",
                          *change.after, expected,
                          "lower what leads to this value in the intent file"});
    }
  return problems;
}

}  // namespace dlcp::fabric::cumulus
