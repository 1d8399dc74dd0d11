#include "switch/telemetry/rules.h"

#include <fmt/format.h>

namespace dlcp::fabric::telemetry {
namespace {

std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

// Escapes text for double quotes of PromQL.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

// A regular expression that matches exactly these names, for double quotes of PromQL.
std::string any_of_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) {
    text += text.empty() ? "" : "|";
    for (const char c : name)
      text += c == '.' ? std::string("[.]") : std::string(1, c);
  }
  return text;
}

using Labels = std::vector<std::pair<std::string, std::string>>;

// The recording rules of equal switches.
class Recorder {
 public:
  Recorder(const std::string& fabric, const Watch& watch)
      : fabric_(escaped(fabric)), watch_(watch), names_(*watch.names) {}

  std::string run() {
    for (const WatchedPorts& group : watch_.groups) {
      ++group_;
      for (const WatchedQueue& queue : group.queues)
        put_queue(group, queue);
    }
    for (const WatchedLossless& queue : watch_.lossless)
      put_lossless(queue);
    put_pfc();
    return std::move(text_);
  }

 private:
  void record(const std::string& name, const std::string& expression, const Labels& labels) {
    text_ += fmt::format("      - record: {}\n        expr: {}\n        labels: {{", name,
                         in_quotes(expression));
    for (std::size_t i = 0; i < labels.size(); ++i)
      text_ +=
          fmt::format("{}{}: {}", i == 0 ? "" : ", ", labels[i].first, in_quotes(labels[i].second));
    text_ += "}\n";
  }

  std::string matchers(const CounterName& counter, const std::string& queue,
                       const std::vector<std::string>& ports) const {
    return fmt::format("{}{{fabric=\"{}\",dlcp_plan=\"{}\",{}=\"{}\",{}=~\"{}\"{}{}}}",
                       counter.metric, fabric_, watch_.name, names_.queue_label, queue,
                       names_.port_label, any_of_names(ports), counter.where.empty() ? "" : ",",
                       counter.where);
  }

  std::string by_port(const char* sum, const std::string& series) const {
    return fmt::format(
        "{} by (fabric, switch, port) (label_replace({}, \"port\", \"$1\", \"{}\", \"(.+)\"))", sum,
        series, names_.port_label);
  }

  std::string rate(Counter which, const std::string& queue,
                   const std::vector<std::string>& ports) const {
    const CounterName* const counter = names_.counter(which, watch_.version);
    if (counter == nullptr) return {};
    return by_port("sum", fmt::format("rate({}[5m])", matchers(*counter, queue, ports)));
  }

  std::string all_drops(const std::string& queue, const std::vector<std::string>& ports) const {
    std::string text = rate(Counter::kDrops, queue, ports);
    const CounterName* const drops = names_.counter(Counter::kDrops, watch_.version);
    if (drops != nullptr && drops->adds_early)
      text += " + " + rate(Counter::kEarlyDrops, queue, ports);
    return text;
  }

  void put_queue(const WatchedPorts& group, const WatchedQueue& queue) {
    // Prometheus' checks reject rules with the same name and the same labels.
    const Labels labels = {{"plan", watch_.name},
                           {"group", std::to_string(group_)},
                           {"queue", std::to_string(queue.queue)},
                           {"carries", queue.carries},
                           {"part", name_of(queue.part)}};
    const auto put = [&](const char* name, const std::string& expression) {
      if (!expression.empty())
        record(fmt::format("{}{}:rate5m", kRecorded, name), expression, labels);
      return !expression.empty();
    };
    const auto own = [&](const char* name) {  // selects the series recorded above
      return fmt::format("{}{}:rate5m{{fabric=\"{}\",plan=\"{}\",queue=\"{}\",port=~\"{}\"}}",
                         kRecorded, name, fabric_, watch_.name, queue.queue,
                         any_of_names(group.ports));
    };
    const bool packets = put("packets", rate(Counter::kPackets, queue.label, group.ports));
    const bool drops = put("drops", all_drops(queue.label, group.ports));
    const bool early = put("early_drops", rate(Counter::kEarlyDrops, queue.label, group.ports));
    if (queue.marks) put("marks", rate(Counter::kMarks, queue.label, group.ports));
    put("trims", rate(Counter::kTrims, queue.label, group.ports));
    if (drops && early)
      put("tail_drops", fmt::format("clamp_min({} - {}, 0)", own("drops"), own("early_drops")));
    if (packets && early && queue.shed_share > 0)
      record(fmt::format("{}shed:ratio", kRecorded),
             fmt::format("{0} / ({1} + {0}) / {2:.4g}", own("early_drops"), own("packets"),
                         queue.shed_share),
             labels);
    put_depth(group, queue, labels);
  }

  void put_depth(const WatchedPorts& group, const WatchedQueue& queue, const Labels& labels) {
    const CounterName* const deepest = names_.counter(Counter::kWatermark, watch_.version);
    if (deepest == nullptr || queue.limit_bytes == 0) return;
    std::string series = matchers(*deepest, queue.label, group.ports);
    // A watermark without a period never falls: it counts only if it has risen within an hour.
    if (deepest->where.empty()) series = fmt::format("({0} and changes({0}[1h]) > 0)", series);
    record(fmt::format("{}depth:ratio", kRecorded),
           fmt::format("{} / {}", by_port("max", series), queue.limit_bytes), labels);
  }

  void put_lossless(const WatchedLossless& queue) {
    std::vector<std::string> ports;
    for (const WatchedPorts& group : watch_.groups)
      ports.insert(ports.end(), group.ports.begin(), group.ports.end());
    const auto expression = all_drops(queue.label, ports);
    if (!expression.empty())
      record("dlcp_switch_lossless_drops:rate5m", expression,
             {{"plan", watch_.name}, {"queue", std::to_string(queue.queue)}});
  }

  void put_pfc() {
    if (!names_.pfc) return;
    const PfcName& name = *names_.pfc;
    std::string ours;
    for (const int priority : watch_.priorities)
      ours += (ours.empty() ? "" : "|") + std::to_string(priority);
    for (const bool of_dlcp : {true, false}) {
      if (of_dlcp && ours.empty()) continue;
      const auto series =
          fmt::format("rate({}{{fabric=\"{}\",dlcp_plan=\"{}\",{}{}\"{}\"}}[5m])", name.metric,
                      fabric_, watch_.name, name.priority_label, of_dlcp ? "=~" : "!~", ours);
      record("dlcp_switch_pfc_frames:rate5m",
             fmt::format("sum by (fabric, switch, port, priority) (label_replace(label_replace({}, "
                         "\"port\", \"$1\", \"{}\", \"(.+)\"), \"priority\", \"$1\", \"{}\", "
                         "\"(.+)\"))",
                         series, name.port_label, name.priority_label),
             {{"plan", watch_.name}, {"of", of_dlcp ? "dlcp" : "site"}});
    }
  }

  const std::string fabric_;  // in PromQL's notation
  const Watch& watch_;
  const Names& names_;
  int group_ = 0;  // of ports with equal treatment, from 1
  std::string text_;
};

struct Alert {
  const char* name;
  const char* expression;  // with {fabric} to fill in
  const char* lasts;
  const char* severity;
  const char* summary;
  const char* action;
};

#define DLCP_WHERE "{{ $labels.switch }} {{ $labels.port }}: "
#define DLCP_QUEUE "queue {{ $labels.queue }} ({{ $labels.carries }})"

constexpr Alert kAlerts[] = {
    {"DlcpSwitchControlLoss",
     "dlcp_switch_queue_drops:rate5m{fabric=\"FABRIC\",part=\"control\"} > 0", "1m", "critical",
     DLCP_WHERE DLCP_QUEUE " drops {{ $value | humanize }} control packets/s",
     "Acknowledgements are lost: the strict queue's rate limit is too low for the packets that "
     "arrive, or other senders use its DSCP."},
    {"DlcpSwitchExactLoss", "dlcp_switch_queue_drops:rate5m{fabric=\"FABRIC\",part=\"exact\"} > 0",
     "5m", "warning",
     DLCP_WHERE DLCP_QUEUE " drops {{ $value | humanize }} packets/s, none of which may be lost",
     "Senders retransmit these packets, which takes time. Possible causes: incast beyond the plan, "
     "a limit below the planned one, or senders that do not react to marks."},
    {"DlcpSwitchDropsProtected",
     "dlcp_switch_queue_early_drops:rate5m{fabric=\"FABRIC\",part=~\"control|exact\"} > 0", "2m",
     "critical",
     DLCP_WHERE DLCP_QUEUE " drops {{ $value | humanize }} packets/s early; it should drop none",
     "WRED drop is on in this queue, or its packets arrive without ECT: run dlcp doctor --peer, "
     "and compare the switch with its plan (dlcp-switch diff)."},
    {"DlcpSwitchTailDrops",
     "dlcp_switch_queue_tail_drops:rate5m{fabric=\"FABRIC\",part=~\"sheds|mixed\"} > 0", "5m",
     "warning", DLCP_WHERE DLCP_QUEUE " drops {{ $value | humanize }} packets/s when full",
     "Protected packets are lost, too: the queue's limit is below the planned one, or senders do "
     "not react to marks."},
    {"DlcpSwitchShedsAll", "dlcp_switch_queue_shed:ratio{fabric=\"FABRIC\"} > 0.9", "10m",
     "warning",
     DLCP_WHERE DLCP_QUEUE
     " drops {{ $value | humanizePercentage }} of its droppable packets early",
     "Protected packets are dropped next. Possible causes: more load than the fabric can carry, or "
     "a path that is down."},
    {"DlcpSwitchNeverMarks",
     "dlcp_switch_queue_early_drops:rate5m{fabric=\"FABRIC\",part=\"sheds\"} > 0 and on (fabric, "
     "switch, port, queue) dlcp_switch_queue_marks:rate5m == 0",
     "15m", "warning", DLCP_WHERE DLCP_QUEUE " drops early and marks nothing",
     "ECN is off, or protected packets arrive without ECT: dlcp doctor --peer shows whether marks "
     "survive."},
    {"DlcpSwitchNeverSheds",
     "dlcp_switch_queue_marks:rate5m{fabric=\"FABRIC\",part=\"sheds\"} > 0 and on (fabric, switch, "
     "port, queue) dlcp_switch_queue_early_drops:rate5m == 0",
     "30m", "warning", DLCP_WHERE DLCP_QUEUE " marks and drops nothing early",
     "Early drop is off (on SONiC: wred_green_enable), or droppable packets arrive with ECT, or no "
     "job has a loss budget."},
    {"DlcpSwitchQueueDeep", "dlcp_switch_queue_depth:ratio{fabric=\"FABRIC\"} > 0.9", "5m",
     "warning",
     DLCP_WHERE DLCP_QUEUE " was filled to {{ $value | humanizePercentage }} of its limit",
     "Above the limit all packets are dropped. Possible causes: incast beyond the plan "
     "(fabric.incast_degree), or thresholds that differ from the plan."},
    {"DlcpSwitchPfc", "dlcp_switch_pfc_frames:rate5m{fabric=\"FABRIC\",of=\"dlcp\"} > 0", "1m",
     "critical",
     DLCP_WHERE "pause frames arrive for priority {{ $labels.priority }}, which DLCP uses",
     "PFC is on for a lossy class at the other end of this link: it pauses traffic that may be "
     "dropped."},
    {"DlcpSwitchLosslessLoss", "dlcp_switch_lossless_drops:rate5m{fabric=\"FABRIC\"} > 0", "1m",
     "critical",
     DLCP_WHERE "the site's lossless queue {{ $labels.queue }} drops {{ $value | humanize }} "
                "packets/s",
     "Headroom is too small for the cable, or PFC is off. This is not a queue of DLCP, but roll "
     "DLCP back if the drops began with its change."},
};

// One rule for each switch of the plan: it lasts until the switch answers, and also tells of a
// switch that never did.
constexpr Alert kSilent = {
    "DlcpSwitchSilent",
    "absent(dlcp_switch_queue_packets:rate5m{fabric=\"FABRIC\",switch=\"<SWITCH>\"})",
    "15m",
    "warning",
    "{{ $labels.switch }}: no queue counters",
    "The exporter or the gNMI session has ended, or its labels are not those of these rules; no "
    "other alert works for this switch."};

#undef DLCP_WHERE
#undef DLCP_QUEUE

void fill_in(std::string& text, std::string_view word, const std::string& value) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + value.size()))
    text.replace(at, word.size(), value);
}

std::string alert_text(const Alert& alert, const std::string& fabric,
                       const std::string& device = "") {
  std::string expression = alert.expression;
  fill_in(expression, "FABRIC", fabric);
  fill_in(expression, "<SWITCH>", device);
  // Rules of one name must differ in their labels.
  const std::string labels = device.empty() ? "" : ", switch: " + in_quotes(device);
  return fmt::format(
      "      - alert: {}\n        expr: {}\n        for: {}\n        labels: {{severity: {}{}}}\n"
      "        annotations:\n          summary: {}\n          action: {}\n",
      alert.name, in_quotes(expression), alert.lasts, alert.severity, labels,
      in_quotes(alert.summary), in_quotes(alert.action));
}

}  // namespace

std::string rules_text(const std::string& fabric, const std::vector<Watch>& watches) {
  std::string text = fmt::format(
      "# Recording and alert rules for the queues of {}, written by `dlcp-switch telemetry` from "
      "its plan.\n# Another plan has other numbers: write the rules again after every change of "
      "the intent.\n"
      "groups:\n",
      in_quotes(fabric));
  for (const Watch& watch : watches) {
    if (watch.names == nullptr) continue;
    text += fmt::format("  - name: {}\n    interval: 30s\n    rules:\n{}",
                        in_quotes("dlcp-switch-" + watch.name), Recorder(fabric, watch).run());
  }
  text += "  - name: dlcp-switch-alerts\n    interval: 30s\n    rules:\n";
  for (const Alert& alert : kAlerts)
    text += alert_text(alert, escaped(fabric));
  for (const Watch& watch : watches) {
    if (watch.names == nullptr || watch.groups.empty()) continue;
    if (watch.names->counter(Counter::kPackets, watch.version) == nullptr) continue;
    for (const std::string& device : watch.switches)
      text += alert_text(kSilent, escaped(fabric), device);
  }
  return text;
}

}  // namespace dlcp::fabric::telemetry
