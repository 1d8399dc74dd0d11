#include "switch/telemetry/capture/capture.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "switch/telemetry/capture/gnmi_tree.h"
#include "switch/telemetry/collect.h"
#include "switch/telemetry/rules.h"

namespace dlcp::fabric::telemetry {
namespace {

using Json = nlohmann::json;

constexpr double kCountMax = 1e18;
constexpr int kDepthMax = 64;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The counters that a plan is compared with; the others are for alerts.
std::optional<std::uint64_t>* place_of(QueueCounters& counters, Counter which) {
  switch (which) {
    case Counter::kPackets:
      return &counters.packets;
    case Counter::kDrops:
      return &counters.drops;
    case Counter::kEarlyDrops:
      return &counters.early_drops;
    case Counter::kMarks:
      return &counters.marks;
    default:
      return nullptr;
  }
}

// Rates of little traffic are below one packet: nonzero rates become at least one.
std::optional<std::uint64_t> whole(double value) {
  if (!std::isfinite(value) || value < 0 || value > kCountMax) return std::nullopt;
  return static_cast<std::uint64_t>(std::ceil(value));
}

std::optional<double> number_in(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty() || text.size() > 40) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return *end == '\0' ? std::optional(number) : std::nullopt;
}

class Reader {
 public:
  Reader(const Captured& from, const NamedText& captured) : from_(from), captured_(captured) {
    for (int queue = 0; queue < kQueueCount; ++queue)
      queue_of_[from.queue_label(queue)] = queue;
  }

  Checked<CounterTable> run() {
    int depth = 0;
    const auto shallow = [&depth](int now, Json::parse_event_t /*event*/, Json& /*parsed*/) {
      depth = std::max(depth, now);
      return now <= kDepthMax;
    };
    const Json json = Json::parse(captured_.text, shallow, false);
    if (json.is_discarded() || depth > kDepthMax) {
      refuse("the capture begins like JSON but is not JSON", first_line(),
             "the complete answer of the server", "save it with curl -s ... > FILE, unedited");
    } else if (json.is_object() && json.contains("status")) {
      read_prometheus(json);
    } else {
      read_gnmi(json);
    }
    Checked<CounterTable> result;
    result.problems = std::move(problems_);
    if (!has_errors(result.problems)) result.value = std::move(table_);
    return result;
  }

 private:
  void refuse(std::string what, std::string seen, std::string expected, std::string hint) {
    if (problems_.size() > 20) return;
    problems_.push_back({Severity::kError, captured_.file, 0, std::move(what), std::move(seen),
                         std::move(expected), std::move(hint)});
  }

  std::string first_line() const {
    constexpr std::size_t kShown = 60;
    return captured_.text.substr(0, std::min(captured_.text.find('\n'), kShown));
  }

  std::string ask() const { return "query /api/v1/query?query=" + query_of(from_.plan.name); }

  // False: the counter is present already, with another value.
  bool put(const std::string& port, int queue, Counter which, std::uint64_t count) {
    ++rows_;
    auto* const place = place_of(table_[{port, queue}], which);
    if (place == nullptr) return true;
    if (*place && **place != count) return false;
    *place = count;
    return true;
  }

  // --- Prometheus

  void read_prometheus(const Json& answer) {
    if (text_of(answer, "status") != "success")
      return refuse("Prometheus refused the query",
                    text_of(answer, "errorType") + ": " + text_of(answer, "error"), "an answer",
                    ask());
    const auto data = answer.find("data");
    const auto type = data != answer.end() && data->is_object() ? text_of(*data, "resultType") : "";
    const auto result = type.empty() ? Json::const_iterator() : data->find("result");
    if (type != "vector" || result == data->end() || !result->is_array())
      return refuse("the answer does not belong to an instant query",
                    type.empty() ? "no result" : type, "resultType vector", ask());
    std::set<std::string> names, switches;
    for (const Json& series : *result)
      read_series(series, names, switches);
    if (rows_ > 0 || has_errors(problems_)) return;
    const auto listed = [](const std::set<std::string>& set) {
      std::string text;
      for (const auto& one : set)
        if (text.size() < 200) text += (text.empty() ? "" : ", ") + one;
      return text;
    };
    if (!switches.empty())
      return refuse(fmt::format("the answer belongs to another switch than '{}'", from_.plan.name),
                    listed(switches), "series with switch=\"" + from_.plan.name + "\"", ask());
    refuse("the answer has no queue counters of this switch",
           names.empty() ? "an empty result" : listed(names),
           fmt::format("series such as {}packets:rate5m", kRecorded), ask());
  }

  struct Known {
    Counter counter = Counter::kPackets;
    bool recorded = false;
  };

  std::optional<Known> known(const std::string& name) const {
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      if (name == fmt::format("{}{}:rate5m", kRecorded, name_of(counter)))
        return Known{counter, true};
      if (const auto& raw = from_.names.counter(counter); raw && raw->metric == name)
        return Known{counter, false};
    }
    return std::nullopt;
  }

  void read_series(const Json& series, std::set<std::string>& names,
                   std::set<std::string>& switches) {
    const auto metric = series.is_object() ? series.find("metric") : series.end();
    if (metric == series.end() || !metric->is_object())
      return refuse("a series of the answer has no metric", series.dump().substr(0, 60),
                    "{\"metric\": {...}, \"value\": [TIME, \"COUNT\"]}", ask());
    const auto name = text_of(*metric, "__name__");
    const auto which = known(name);
    if (!which) {
      names.insert(name.empty() ? "(no __name__: the query computes values)" : name);
      return;
    }
    const auto device = switch_of(*metric);
    if (device != from_.plan.name) {
      switches.insert(device.empty() ? "(no label with its name)" : device);
      return;
    }
    const auto port = text_of(*metric, which->recorded ? "port" : from_.names.port_label.c_str());
    const auto label =
        text_of(*metric, which->recorded ? "queue" : from_.names.queue_label.c_str());
    const int queue = which->recorded ? recorded_queue(label) : named_queue(label);
    const auto value = series.find("value");
    const auto count = value != series.end() && value->is_array() && value->size() == 2
                           ? number_in(value->at(1))
                           : std::nullopt;
    if (port.empty() || !count)
      return refuse(fmt::format("a series of {} lacks a port or a value", name),
                    series.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 120),
                    "a port, and a value as [TIME, \"COUNT\"]", ask());
    if (queue < 0 || std::isnan(*count)) return;  // a multicast queue, or no count
    const auto packets = whole(which->recorded ? *count * kRateSeconds : *count);
    if (!packets)
      return refuse(fmt::format("a counter of {} is out of range", port),
                    fmt::format("{} {}", name, *count), "a number from 0", "");
    if (!put(port, queue, which->counter, *packets))
      refuse(fmt::format("{} of {} queue {} occurs twice", name, port, queue), label,
             "one series for each counter of a queue",
             "query either raw counters or recorded rates, from one exporter");
  }

  // From the label that targets.json and gnmic.json set; else from the exporter's address.
  static std::string switch_of(const Json& metric) {
    for (const char* label : {"switch", "source", "instance"}) {
      const auto text = text_of(metric, label);
      if (!text.empty()) return text.substr(0, text.find(':'));
    }
    return "";
  }

  int named_queue(const std::string& label) const {
    const auto known = queue_of_.find(label);
    return known == queue_of_.end() ? -1 : known->second;
  }
  static int recorded_queue(const std::string& label) {
    return label.size() == 1 && label[0] >= '0' && label[0] < '0' + kQueueCount ? label[0] - '0'
                                                                                : -1;
  }

  // --- gNMI

  void read_gnmi(const Json& json) {
    if (from_.names.path.empty())
      return refuse(fmt::format("gNMI is not supported for {}", from_.plan.os), first_line(),
                    "an answer of Prometheus", ask());
    std::set<std::string> sources;
    const GnmiTree tree(from_.names.path, from_.names.entries);
    tree.walk(json, [&](const GnmiLeaf& leaf) {
      if (!leaf.source.empty() && leaf.source.substr(0, leaf.source.find(':')) != from_.plan.name) {
        sources.insert(leaf.source);
        return;
      }
      read_leaf(leaf);
    });
    if (rows_ > 0 || has_errors(problems_)) return;
    if (!sources.empty())
      return refuse(fmt::format("the answer belongs to another switch than '{}'", from_.plan.name),
                    *sources.begin(), "source " + from_.plan.name,
                    "in gnmic, give the target the name that the switch has in the intent");
    refuse("the answer has no queue counters", first_line(), from_.names.path,
           fmt::format("gnmic -a {} get --path \"{}\" > FILE", from_.plan.name, from_.names.path));
  }

  void read_leaf(const GnmiLeaf& leaf) {
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      const auto& name = from_.names.counter(static_cast<Counter>(i));
      if (!name || name->leaf.empty() || name->leaf != leaf.name) continue;
      const int queue = named_queue(leaf.queue);
      const auto number = number_in(*leaf.value);
      const auto count = number ? whole(*number) : std::nullopt;
      if (!count)
        return refuse(
            fmt::format("{} of {} queue {} is not a count", leaf.name, leaf.port, leaf.queue),
            leaf.value->dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60),
            "a number from 0", "");
      if (queue < 0) return;  // multicast, or a queue that no class leads to
      if (!put(leaf.port, queue, static_cast<Counter>(i), *count))
        refuse(fmt::format("{} of {} queue {} occurs twice", leaf.name, leaf.port, leaf.queue), "",
               "the answer of one Get", "save a single Get, not a stream of samples");
      return;
    }
  }

  const Captured& from_;
  const NamedText& captured_;
  std::map<std::string, int> queue_of_;  // by label
  CounterTable table_;
  std::size_t rows_ = 0;
  std::vector<Problem> problems_;
};

}  // namespace

bool is_json(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (text[first] == '{' || text[first] == '[');
}

Checked<CounterTable> read_capture(const Captured& from, const NamedText& captured) {
  return Reader(from, captured).run();
}

}  // namespace dlcp::fabric::telemetry
