// Reads `show queue wredcounters` and `show queue counters`. Counters are since the last clear, so
// that is the first command.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "switch/vendors/counters.h"
#include "switch/vendors/numbers.h"
#include "switch/vendors/sonic/document.h"
#include "switch/vendors/sonic/release.h"
#include "switch/vendors/words.h"

namespace dlcp::fabric::sonic {
namespace {

CounterTable read_tables(const std::string& text) {
  CounterTable table;
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
      const auto count = counter_of(words[i]);
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

}  // namespace

std::vector<VerifyCommand> commands(const SwitchPlan& plan) {
  constexpr std::string_view kPort = "{port}";
  std::vector<VerifyCommand> list;
  for (const auto& command : Release(plan.version).commands(plan.features)) {
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
  const CounterTable table = read_tables(captured.text);
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
  result.value = judge_counters(plan, table);
  return result;
}

}  // namespace dlcp::fabric::sonic
