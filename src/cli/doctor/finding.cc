#include "cli/doctor/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command_line/terminal.h"

namespace dlcp::cli {
namespace {

const char* name_of(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kWarn:
      return "warn";
    case Level::kFail:
      return "fail";
  }
  return "?";
}

}  // namespace

std::size_t count(const Findings& findings, Level level) {
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [&](const Finding& f) { return f.level == level; }));
}

std::string to_text(const Findings& findings, std::size_t width) {
  constexpr std::size_t kColumn = 22;
  std::string text;
  for (const Finding& finding : findings) {
    text += beside(fmt::format("{:<5} {}", name_of(finding.level), finding.check), finding.value,
                   kColumn, width);
    if (!finding.fix.empty()) text += beside("", "fix: " + finding.fix, kColumn, width);
  }
  return text;
}

nlohmann::json to_json(const Findings& findings) {
  auto list = nlohmann::json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"check", finding.check},
                    {"level", name_of(finding.level)},
                    {"value", finding.value},
                    {"fix", finding.fix}});
  }
  return list;
}

}  // namespace dlcp::cli
