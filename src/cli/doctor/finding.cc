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
  for (auto finding = findings.begin(); finding != findings.end(); ++finding) {
    text += beside(fmt::format("{:<5} {}", name_of(finding->level), finding->check), finding->value,
                   kColumn, width);
    const auto has_this_fix = [&](const Finding& other) { return other.fix == finding->fix; };
    if (finding->fix.empty() || std::any_of(finding + 1, findings.end(), has_this_fix)) continue;
    const auto rows = std::count_if(findings.begin(), findings.end(), has_this_fix);
    const std::string label = rows == 1 ? "fix: " : fmt::format("fix for {} rows: ", rows);
    text += beside("", label + finding->fix, kColumn, width);
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
