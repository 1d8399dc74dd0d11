// Reads `show queue wredcounters` and `show queue counters` and says, for every queue of the plan,
// whether it drops and marks what DLCP should make it drop and mark. Counters are since the last
// clear, so that is the first command.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "switch/vendors/sonic/document.h"
#include "switch/vendors/sonic/release.h"
#include "switch/vendors/words.h"

namespace dlcp::fabric::sonic {
namespace {

struct Counters {
  std::optional<std::uint64_t> early_drops, marks, drops, packets;
};
using Table = std::map<std::pair<std::string, int>, Counters>;  // (port, queue)

std::optional<std::uint64_t> count_of(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;  // "N/A": this platform does not count it
  return std::stoull(text);
}

Table read_tables(const std::string& text) {
  Table table;
  std::vector<std::string> header;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line);
    if (words.size() > 2 && words[0] == "Port" && (words[1] == "TxQ" || words[1] == "Voq")) {
      header = words;
      continue;
    }
    if (words.size() != header.size() || words.size() < 3 || words[1].size() < 3) continue;
    const bool unicast = words[1].compare(0, 2, "UC") == 0;
    const auto queue = number_of(std::string_view(words[1]).substr(2));
    if (!unicast || !queue) continue;
    auto& row = table[{words[0], *queue}];
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto count = count_of(words[i]);
      if (header[i] == "WredDrp/pkts")
        row.early_drops = count;
      else if (header[i] == "EcnMarked/pkts")
        row.marks = count;
      else if (header[i] == "Drop/pkts")
        row.drops = count;
      else if (header[i] == "Counter/pkts")
        row.packets = count;
    }
  }
  return table;
}

Finding judge_queue(const std::string& port, const QueuePlan& queue, const Counters& seen) {
  Finding finding{Verdict::kWrong, port, queue.queue, {}};
  const auto& name = queue.name;
  bool sheds = false, marks = queue.mark_bytes.has_value();
  for (const auto& level : queue.levels)
    sheds |= level.drop_bytes.has_value();
  if (!seen.early_drops && !seen.marks && !seen.drops) {
    finding.verdict = Verdict::kNotShown;
    finding.what = fmt::format("{}: no counters in the capture (or N/A on this platform)", name);
    return finding;
  }
  const bool exact = std::any_of(queue.carries.begin(), queue.carries.end(), [](SwitchQueue part) {
    return part == SwitchQueue::kExact || part == SwitchQueue::kStrictHigh;
  });
  if (sheds && !seen.early_drops && seen.drops.value_or(0) > 0) {
    finding.verdict = Verdict::kNotShown;
    finding.what = fmt::format(
        "{}: {} packets dropped; without WRED counters (SONiC 202505) it is not known whether "
        "early, as planned, or by a full queue",
        name, *seen.drops);
    return finding;
  }
  if (sheds && exact && seen.early_drops.value_or(0) > 0) {
    finding.verdict = Verdict::kNotShown;
    finding.what = fmt::format(
        "{}: {} dropped early: cannot be judged, exact or control packets share the queue with "
        "droppable ones; packets_retransmitted of the hosts says whether they were among them",
        name, *seen.early_drops);
    return finding;
  }
  const auto early = seen.early_drops.value_or(0), marked = seen.marks.value_or(0);
  const auto all = seen.drops.value_or(0);
  const auto tail = all > early ? all - early : 0;
  if (early > 0 && !sheds)
    finding.what = fmt::format(
        "{}: {} packets dropped early, none should be; senders mark not-ECT, or WRED drop is on",
        name, early);
  else if (marked > 0 && !marks)
    finding.what = fmt::format("{}: {} packets marked, this queue should not mark", name, marked);
  else if (tail > 0)
    finding.what = fmt::format("{}: {} packets dropped by a full queue; {}", name, tail,
                               queue.strict ? "the strict queue's rate limit is too low for what "
                                              "arrives, or somebody else marks its DSCP"
                                            : "senders do not react to marks, or the queue's limit "
                                              "is below the planned one");
  else if (sheds && marks && seen.early_drops && early == 0 && marked > 0)
    finding.what = fmt::format(
        "{}: {} packets marked and none dropped; wred_green_enable is off, or droppable packets "
        "arrive ECT",
        name, marked);
  else if (sheds && marks && seen.marks && early > 0 && marked == 0)
    finding.what = fmt::format(
        "{}: {} packets dropped and none marked; ecn is off, or protected packets arrive not-ECT",
        name, early);
  else if (early == 0 && marked == 0 && marks) {
    finding.verdict = Verdict::kNotShown;
    finding.what = fmt::format("{}: no congestion since the counters were cleared", name);
  } else {
    finding.verdict = Verdict::kAsPlanned;
    finding.what = fmt::format("{}: {} dropped early, {} marked", name, early, marked);
  }
  return finding;
}

}  // namespace

std::vector<VerifyCommand> commands(const SwitchPlan& plan) {
  constexpr std::string_view kPort = "{port}";
  std::vector<VerifyCommand> list;
  for (const auto& command : Release(plan.version).commands()) {
    const auto at = command.command.find(kPort);
    if (at == std::string::npos) {
      list.push_back(command);
      continue;
    }
    for (const auto& group : plan.groups) {
      if (group.group.ports.empty()) continue;
      auto of_port = command;
      list.push_back(
          {of_port.command.replace(at, kPort.size(), group.group.ports.front()), command.shows});
    }
  }
  return list;
}

Checked<std::vector<Finding>> judge(const SwitchPlan& plan, const NamedText& captured) {
  const Table table = read_tables(captured.text);
  if (table.empty())
    return Checked<std::vector<Finding>>::failed(
        {Severity::kError,
         captured.file,
         0,
         "no queue counters found",
         {},
         "output of `show queue wredcounters` and `show queue counters`",
         "capture with: show queue wredcounters; show queue counters"});
  Checked<std::vector<Finding>> result;
  auto& findings = result.value.emplace();
  for (const auto& group : plan.groups)
    for (const auto& port : group.group.ports) {
      const auto first = table.lower_bound({port, -1});
      if (first == table.end() || first->first.first != port) continue;  // not captured
      for (const auto& queue : group.queues) {
        const auto row = table.find({port, queue.queue});
        findings.push_back(judge_queue(port, queue, row == table.end() ? Counters() : row->second));
      }
      for (const auto& site : plan.site->queues) {
        const auto row = table.find({port, site.queue});
        if (!site.lossless || row == table.end()) continue;
        const auto lost =
            std::max(row->second.drops.value_or(0), row->second.early_drops.value_or(0));
        findings.push_back({lost > 0 ? Verdict::kWrong : Verdict::kAsPlanned, port, site.queue,
                            fmt::format("the site's lossless queue: {} dropped", lost)});
      }
    }
  if (findings.empty())
    findings.push_back({Verdict::kNotShown, "", -1, "no port of the plan is in the capture"});
  return result;
}

}  // namespace dlcp::fabric::sonic
