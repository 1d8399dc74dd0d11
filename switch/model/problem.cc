#include "switch/model/problem.h"

#include <fmt/core.h>

#include <algorithm>

namespace dlcp::fabric {

std::string to_text(const Problem& problem) {
  std::string text;
  if (!problem.file.empty()) text += problem.file + ':';
  if (problem.line > 0) text += fmt::format("{}:", problem.line);
  if (!text.empty()) text += ' ';
  constexpr const char* kNames[] = {"error", "warning", "note"};
  text += fmt::format("{}: {}", kNames[static_cast<int>(problem.severity)], problem.what);
  if (!problem.seen.empty() && !problem.expected.empty())
    text += fmt::format(": '{}', expected {}", problem.seen, problem.expected);
  else if (!problem.seen.empty())
    text += fmt::format(": '{}'", problem.seen);
  else if (!problem.expected.empty())
    text += fmt::format("; expected {}", problem.expected);
  if (!problem.rule.empty()) text += fmt::format(" [{}]", problem.rule);
  if (!problem.hint.empty()) text += "\n  hint: " + problem.hint;
  return text;
}

bool has_errors(const std::vector<Problem>& problems) {
  return std::any_of(
      problems.begin(), problems.end(),
      [](const Problem& problem) { return problem.severity == Severity::kError; });
}

}  // namespace dlcp::fabric
