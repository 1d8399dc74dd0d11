// The result of one check of `dlcp doctor`: the value found, and the fix if it is not good. Checks
// return findings and print nothing; the command prints them as text or JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace dlcp::cli {

enum class Level : std::uint8_t {
  kOk,
  kWarn,  // works, but more slowly or without some feature
  kFail,  // does not work in this state
};

struct Finding {
  std::string check;  // a stable name, for scripts
  Level level = Level::kOk;
  std::string value;  // the value found
  std::string fix;    // instruction for the user; empty if there is no problem
};

using Findings = std::vector<Finding>;

std::size_t count(const Findings& findings, Level level);

// Level, check and value of each finding, wrapped at `width`, with "fix:" below those that have
// one. A fix of several findings is printed once, below the last of them, with their number.
std::string to_text(const Findings& findings, std::size_t width);
nlohmann::json to_json(const Findings& findings);

}  // namespace dlcp::cli
