#include "switch/vendors/text/truncated.h"

#include <algorithm>

namespace dlcp::fabric {

std::optional<Problem> truncated_last_line(const std::string& file, const std::string& text) {
  constexpr std::size_t kShownMax = 60;
  if (text.empty() || text.back() == '\n') return std::nullopt;
  const auto before = text.rfind('\n');
  const auto line = before == std::string::npos ? 0 : before + 1;
  const auto begin = std::min(text.find_first_not_of(" \t\r", line), text.size());
  Problem problem;
  problem.severity = Severity::kWarning;
  problem.file = file;
  problem.line = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  problem.what = "the last line has no line end: the configuration may be truncated";
  problem.seen = text.substr(begin, kShownMax);
  return problem;
}

}  // namespace dlcp::fabric
