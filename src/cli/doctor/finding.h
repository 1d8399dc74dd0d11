// What `dlcp doctor` has to say: one finding per check, with what was seen and how to mend it.
// Checks return findings and print nothing; the command prints them as text or JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace dlcp::cli {

enum class Level : std::uint8_t {
  kOk,
  kWarn,  // works, but slower or with something missing
  kFail,  // will not work as it is
};

struct Finding {
  std::string check;  // a stable name, for scripts
  Level level = Level::kOk;
  std::string value;  // what was seen
  std::string fix;    // what to do; empty when there is nothing to mend
};

using Findings = std::vector<Finding>;

std::size_t count(const Findings& findings, Level level);

// Level, check and value of each, wrapped at `width`, and "fix:" under those that have one.
std::string to_text(const Findings& findings, std::size_t width);
nlohmann::json to_json(const Findings& findings);

}  // namespace dlcp::cli
