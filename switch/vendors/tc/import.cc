// Reads `tc qdisc show` (all devices, as text). It does not show where a DSCP leads. A port has the
// kernel's own queue, or one token bucket, which DLCP's tree replaces or is placed below, or a tree
// of the site, which is not changed.
#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "switch/vendors/tc/tc_parts.h"
#include "switch/vendors/tc/tree.h"
#include "switch/vendors/text/truncated.h"

namespace dlcp::fabric::tc {
namespace {

Problem problem_at(const NamedText& running, int line, std::string what, const std::string& seen) {
  return {.severity = Severity::kError,
          .file = running.file,
          .line = line,
          .what = std::move(what),
          .seen = seen.substr(0, 80),
          .expected = "lines of `tc qdisc show`: \"qdisc KIND HANDLE: dev PORT ...\"",
          .hint = "capture it with `tc qdisc show > FILE` on the switch, without -j, -s or -d"};
}

// The line in the form of the script's snapshot: without "dev PORT", reference count and automatic
// handles.
std::string without_device(std::istringstream& words) {
  std::string text;
  std::string word;
  while (words >> word) {
    if (word == "dev" || word == "refcnt") {
      words >> word;
      continue;
    }
    const bool handle = word.size() == 5 && word.starts_with("80") && word.ends_with(":");
    text += (text.empty() ? "" : " ") + (handle ? std::string("auto:") : word);
  }
  return text;
}

// Removes DLCP's queues from the lines of a port. Nothing remains if they replaced the kernel's own
// queue, whose form is then not known.
void remove_own_queues(std::vector<std::string>& rows) {
  const std::string ours = fmt::format("{:x}", kHandle >> 4);
  const auto is_ours = [&ours](const std::string& row) {
    std::istringstream words(row);
    std::string word;
    words >> word >> word >> word;
    return row.starts_with("qdisc ") && word.starts_with(ours);
  };
  if (std::none_of(rows.begin(), rows.end(), is_ours)) return;
  bool after_ours = false;
  std::erase_if(rows, [&](const std::string& row) {
    if (row.starts_with("qdisc ")) after_ours = is_ours(row) || row.starts_with("qdisc clsact ");
    return after_ours;
  });
}

}  // namespace

Checked<SiteConfig> import_qdiscs(const NamedText& running) {
  auto import = std::make_shared<Import>();
  Checked<SiteConfig> result;
  std::istringstream lines(running.text);
  std::string line;
  std::string port;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first)) continue;
    if (first == "qdisc") {
      std::string kind;
      std::string handle;
      std::string dev;
      if (!(words >> kind >> handle >> dev >> port) || dev != "dev" || !handle.ends_with(":")) {
        result.problems.push_back(
            problem_at(running, number, "this is not a line of tc's output", line));
        continue;
      }
    } else if (port.empty() || !line.starts_with(" ")) {
      result.problems.push_back(
          problem_at(running, number, "this is not a line of tc's output", line));
      continue;
    }
    std::istringstream again(line);
    const std::string text = without_device(again);
    import->qdiscs[port].push_back((first == "qdisc" ? "" : " ") + text);
  }
  for (auto& [name, rows] : import->qdiscs)
    remove_own_queues(rows);
  if (import->qdiscs.empty() && result.problems.empty())
    result.problems.push_back(problem_at(running, 0, "the file has no queues", ""));
  if (has_errors(result.problems)) return result;
  if (auto truncated = truncated_last_line(running.file, running.text)) {
    truncated->hint = problem_at(running, 0, "", "").hint;
    result.problems.push_back(std::move(*truncated));
  }
  SiteConfig site;
  site.source = running.file;
  site.imported = true;
  for (std::size_t i = 0; i < site.queues.size(); ++i)
    site.queues[i].queue = static_cast<std::uint8_t>(i);
  site.dscp_to_class.fill(0);
  site.class_to_queue[0] = 0;
  site.queues[0].name = "default";
  site.queues[0].in_use = true;
  for (const auto& [name, rows] : import->qdiscs)
    site.ports.push_back(name);
  site.document = std::move(import);
  result.value = std::move(site);
  return result;
}

}  // namespace dlcp::fabric::tc
