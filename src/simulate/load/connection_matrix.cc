#include "simulate/load/connection_matrix.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "simulate/load/workloads.h"
#include "util/text/quantity.h"

namespace dlcp::simulate {
namespace {

class BadLine : public std::runtime_error {
 public:
  BadLine(const std::string& what, std::string hint)
      : std::runtime_error(what), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

struct Trigger {
  bool known = false;  // its own line was read
  bool barrier = false;
  std::size_t count = 0;           // of a barrier
  std::vector<TransferId> pulls;   // connections that trigger it when they are done
  std::vector<TransferId> starts;  // connections that wait for it
};

class Reader {
 public:
  ConnectionMatrix read(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      ++line_;
      const auto words = words_of(std::string_view(text).substr(at, end - at));
      at = end + 1;
      if (!words.empty() && words[0][0] != '#') take(words);
    }
    line_ = 0;
    if (matrix_.hosts == 0) refuse("there is no line 'Nodes N'", "begin the file with it");
    agree("Connections", connections_, matrix_.workload.size());
    agree("Triggers", triggers_said_, lines_of_triggers_);
    join();
    if (!can_end(matrix_.workload))
      refuse("connections wait for each other in a cycle", "give one of them a start");
    return std::move(matrix_);
  }

 private:
  using Words = std::vector<std::string_view>;

  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw BadLine(line_ > 0 ? fmt::format("line {}: {}", line_, what) : what, hint);
  }
  std::uint64_t number(std::string_view word, const char* of, std::uint64_t least,
                       std::uint64_t most) const {
    const auto value = parse_count(word);
    if (!value || *value < least || *value > most)
      refuse(fmt::format("{} is '{}'", of, word), fmt::format("give {} to {}", least, most));
    return *value;
  }
  std::string_view after(const Words& words, std::size_t& at) const {
    if (at + 1 >= words.size())
      refuse(fmt::format("'{}' has no value", words[at]), "write the value after it");
    return words[++at];
  }
  void agree(const char* what, std::size_t said, std::size_t are) const {
    if (said != are)
      refuse(fmt::format("{} says {}, but the file has {}", what, said, are), "correct the number");
  }

  void take(const Words& words) {
    if (words[0].find("->") != std::string_view::npos)
      connection(words);
    else if (words[0] == "trigger")
      trigger(words);
    else if (words[0] == "failure")
      refuse("lines with failures are not supported", "write them under 'faults' of the scenario");
    else if (words.size() > 1)
      header(words);
    else
      refuse_line(words);
  }

  [[noreturn]] void refuse_line(const Words& words) const {
    refuse(fmt::format("unknown line '{}'", words[0]),
           "give lines Nodes N, Connections N, Triggers N, A->B ..., trigger ...");
  }

  void header(const Words& words) {
    if (words[0] == "Nodes") {
      matrix_.hosts = number(words[1], "Nodes", 2, kMatrixHostsMax);
    } else if (words[0] == "Connections") {
      connections_ = number(words[1], "Connections", 1, kMatrixConnectionsMax);
    } else if (words[0] == "Triggers") {
      triggers_said_ = number(words[1], "Triggers", 0, kMatrixConnectionsMax);
    } else if (words[0] == "Failures") {
      if (number(words[1], "Failures", 0, kMatrixConnectionsMax) > 0)
        refuse("lines with failures are not supported",
               "write them under 'faults' of the scenario");
    } else {
      refuse_line(words);
    }
  }

  HostIndex host(std::string_view word) const {
    if (matrix_.hosts == 0) refuse("a connection comes before 'Nodes N'", "begin with that line");
    return static_cast<HostIndex>(number(word, "a host", 0, matrix_.hosts - 1));
  }

  void connection(const Words& words) {
    const auto id = static_cast<TransferId>(matrix_.workload.size());
    if (id >= kMatrixConnectionsMax)
      refuse("there are too many connections",
             fmt::format("give at most {}", kMatrixConnectionsMax));
    const std::size_t arrow = words[0].find("->");
    Step step;
    step.transfer.from = host(words[0].substr(0, arrow));
    step.transfer.to = host(words[0].substr(arrow + 2));
    if (step.transfer.from == step.transfer.to)
      refuse(fmt::format("'{}' sends to itself", words[0]), "name two hosts");
    bool starts = false;
    bool waits = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string_view word = words[i];
      if (word == "start") {
        starts = true;
        step.wait = start(after(words, i));
      } else if (word == "size") {
        step.transfer.bytes = number(after(words, i), "size", 1, std::uint64_t{1} << 26);
      } else if (word == "id") {
        const auto name = number(after(words, i), "id", 1, UINT32_MAX);
        if (!names_.insert(name).second)
          refuse(fmt::format("id {} is used twice", name), "give each connection an id of its own");
      } else if (word == "trigger") {
        waits = true;
        named(after(words, i)).starts.push_back(id);
      } else if (word == "send_done_trigger" || word == "recv_done_trigger") {
        named(after(words, i)).pulls.push_back(id);
      } else if (word == "prio") {
        number(after(words, i), "prio", 0, UINT32_MAX);
      } else {
        refuse(fmt::format("unknown key '{}' of a connection", word),
               "keys are id, start, trigger, size, send_done_trigger, recv_done_trigger, prio");
      }
    }
    if (starts == waits)
      refuse("a connection needs either start or trigger", "write 'start 0', for example");
    if (step.transfer.bytes == 0) refuse("a connection has no size", "write 'size 2000000'");
    matrix_.workload.push_back(std::move(step));
  }

  // Some files write picoseconds with a decimal point.
  Duration start(std::string_view word) const {
    const auto ps = parse_number(word);
    if (!ps || *ps < 0 || *ps > 3.6e15)
      refuse(fmt::format("start is '{}'", word), "give picoseconds, at most one hour");
    return Duration(static_cast<std::int64_t>(*ps / 1000));
  }

  Trigger& named(std::string_view word) {
    return triggers_[number(word, "a trigger", 1, UINT32_MAX)];
  }

  void trigger(const Words& words) {
    ++lines_of_triggers_;
    Trigger* own = nullptr;
    bool typed = false;
    bool barrier = false;
    std::size_t count = 0;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "id") {
        own = &named(after(words, i));
      } else if (words[i] == "count") {
        count = number(after(words, i), "count", 1, kMatrixConnectionsMax);
      } else if (words[i] == "oneshot" || words[i] == "multishot" || words[i] == "barrier") {
        typed = true;
        barrier = words[i] == "barrier";
      } else {
        refuse(fmt::format("unknown key '{}' of a trigger", words[i]),
               "keys are id, oneshot, multishot, barrier, count");
      }
    }
    if (own == nullptr || !typed)
      refuse("a trigger needs an id and a kind", "write 'trigger id 1 oneshot'");
    if (own->known) refuse("this trigger is defined twice", "give each an id of its own");
    own->known = true;
    own->barrier = barrier;
    own->count = count;
  }

  // A connection that waits for a trigger waits for all connections that pull it.
  void join() {
    for (const auto& [id, one] : triggers_) {
      if (!one.known)
        refuse(fmt::format("trigger {} is used, but not defined", id),
               fmt::format("write 'trigger id {} oneshot'", id));
      const std::size_t needs = one.barrier ? one.count : 1;
      if (one.pulls.size() != needs)
        refuse(fmt::format("trigger {} is used as send_done_trigger or recv_done_trigger by {} "
                           "connections, but needs {}",
                           id, one.pulls.size(), needs),
               "make both numbers equal");
      for (const TransferId waiting : one.starts) {
        auto& after = matrix_.workload[waiting].after;
        after.insert(after.end(), one.pulls.begin(), one.pulls.end());
      }
    }
  }

  ConnectionMatrix matrix_;
  std::map<std::uint64_t, Trigger> triggers_;
  std::set<std::uint64_t> names_;
  std::size_t line_ = 0;
  std::size_t connections_ = 0;
  std::size_t triggers_said_ = 0;
  std::size_t lines_of_triggers_ = 0;
};

}  // namespace

Result<ConnectionMatrix> parse_connection_matrix(const std::string& text,
                                                 const std::string& source) {
  try {
    return Reader().read(text);
  } catch (const BadLine& bad) {
    return Error{ErrorCode::kInvalidUsage, fmt::format("{}: {}", source, bad.what()), bad.hint()};
  }
}

}  // namespace dlcp::simulate
