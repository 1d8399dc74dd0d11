// Counters out of what a switch's own show commands print. Which line says what is data: the last
// port and the last queue that a line named are those that counters on later lines are of.
#include <algorithm>
#include <sstream>

#include "switch/vendors/counters.h"
#include "switch/vendors/numbers.h"
#include "switch/vendors/tree/wanted.h"
#include "switch/vendors/words.h"

namespace dlcp::fabric::tree {
namespace {

// One space between words, without the bars of tables and what leads a flat statement.
std::string plain(std::string line) {
  std::replace(line.begin(), line.end(), '|', ' ');
  std::string text;
  for (const auto& word : words_of(line)) {
    if (text.empty() && (word == "set" || word == "/")) continue;
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

class CounterReader {
 public:
  CounterReader(const Target& target, const Document& document)
      : target_(target), document_(document) {}

  CounterTable read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      take(plain(line));
    for (auto& [place, row] : table_) {
      const auto tail = tails_.find(place);
      if (!row.drops && tail != tails_.end())
        row.drops = tail->second + row.early_drops.value_or(0);
    }
    return std::move(table_);
  }

 private:
  void take(const std::string& line) {
    for (const auto& [name, patterns] : target_.counters)
      for (const Pattern& pattern : patterns) {
        const auto held = pattern.match(line);
        if (!held) continue;
        if (const auto port = held->find("port"); port != held->end()) port_ = port->second;
        if (const auto queue = held->find("queue"); queue != held->end())
          queue_ = number_of_queue(queue->second);
        if (const auto count = held->find("count"); count != held->end())
          put(name, counter_of(count->second));
      }
  }

  void put(const std::string& name, std::optional<std::uint64_t> count) {
    if (port_.empty() || !queue_ || !count) return;
    const std::pair place{port_, *queue_};
    QueueCounters& row = table_[place];
    if (name == "packets") row.packets = count;
    if (name == "drops") row.drops = count;
    if (name == "early_drops") row.early_drops = count;
    if (name == "marks") row.marks = count;
    if (name == "tail_drops") tails_[place] = *count;
  }

  std::optional<int> number_of_queue(const std::string& name) const {
    const auto known = document_.queue_of.find(name);
    if (known != document_.queue_of.end()) return known->second;
    for (int queue = 0; queue < kQueueCount; ++queue)
      if (name == queue_name(document_, queue) || name == std::to_string(queue)) return queue;
    return std::nullopt;
  }

  const Target& target_;
  const Document& document_;
  CounterTable table_;
  std::map<std::pair<std::string, int>, std::uint64_t> tails_;  // drops of full queues alone
  std::string port_;
  std::optional<int> queue_;
};

}  // namespace

Checked<std::vector<Finding>> judge_captured(const Target& target, const SwitchPlan& plan,
                                             const NamedText& captured) {
  if (target.counters.empty()) return not_judged(target.title, captured);
  static const Document kDeclared;
  const auto* document = dynamic_cast<const Document*>(plan.site->document.get());
  const auto table =
      CounterReader(target, document != nullptr ? *document : kDeclared).read(captured.text);
  if (table.empty()) {
    const std::string command =
        target.verify_port.empty() ? "" : "`" + target.verify_port.front().command + "`";
    return Checked<std::vector<Finding>>::failed({Severity::kError,
                                                  captured.file,
                                                  0,
                                                  "no queue counters found",
                                                  {},
                                                  "output of " + command,
                                                  "capture it for every port to be judged"});
  }
  Checked<std::vector<Finding>> result;
  result.value = judge_counters(plan, table);
  return result;
}

}  // namespace dlcp::fabric::tree
