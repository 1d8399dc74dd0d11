#include "switch/telemetry/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "switch/telemetry/rules.h"
#include "switch/vendors/embedded.h"

namespace dlcp::fabric::telemetry {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSonicScript = "sonic-queue-counters.py";

// Fills the holes of a gNMI path; holes without a value become "*".
std::string filled(std::string path, const std::string& port, const std::string& queue) {
  const auto put = [&path](const std::string& hole, const std::string& value) {
    const auto at = path.find(hole);
    if (at != std::string::npos) path.replace(at, hole.size(), value);
  };
  put("{port}", port);
  put("{queue}", queue);
  put("{priority}", "*");
  return path;
}

Json labels_of(const std::string& fabric, const Watch& watch, const std::string& device) {
  return {{"fabric", fabric}, {"switch", device}, {"dlcp_plan", watch.name}};
}

// Targets for file_sd_configs: exporters on the switches.
Json scrape_targets(const std::string& fabric, const std::vector<Watch>& watches) {
  Json list = Json::array();
  for (const Watch& watch : watches) {
    if (watch.names == nullptr || watch.names->collector != "sonic-exporter") continue;
    for (const auto& device : watch.switches)
      list.push_back(
          {{"targets", Json::array({fmt::format("{}:{}", device, watch.names->tcp_port)})},
           {"labels", labels_of(fabric, watch, device)}});
  }
  return list;
}

Json gnmic_config(const std::string& fabric, const std::vector<Watch>& watches) {
  Json targets = Json::object(), subscriptions = Json::object();
  for (const Watch& watch : watches) {
    if (watch.names == nullptr || watch.names->collector != "gnmic") continue;
    Json wanted = Json::array();
    const auto subscribe = [&subscriptions, &wanted](const std::string& name,
                                                     const std::string& path) {
      wanted.push_back(name);
      subscriptions[name] = {{"paths", Json::array({filled(path, "*", "*")})},
                             {"mode", "STREAM"},
                             {"stream-mode", "SAMPLE"},
                             {"sample-interval", "30s"}};
    };
    subscribe(watch.os + "-queues", watch.names->path);
    if (watch.names->pfc && !watch.names->pfc->path.empty())
      subscribe(watch.os + "-pfc", watch.names->pfc->path);
    for (const auto& device : watch.switches)
      targets[device] = {{"address", fmt::format("{}:{}", device, watch.names->tcp_port)},
                         {"subscriptions", wanted},
                         {"event-tags", labels_of(fabric, watch, device)}};
  }
  if (targets.empty()) return nullptr;
  Json base;
  base["path-base"]["apply-on"] = "name";
  Json processor;
  processor["value-names"] = Json::array({".*"});
  processor["transforms"] = Json::array();
  processor["transforms"].push_back(base);
  Json config;
  config["targets"] = targets;
  config["subscriptions"] = subscriptions;
  config["processors"]["last-name"]["event-strings"] = processor;
  Json& output = config["outputs"]["prometheus"];
  output["type"] = "prometheus";
  output["listen"] = ":9804";
  output["metric-prefix"] = kGnmicPrefix;
  output["expiration"] = "90s";
  output["event-processors"] = Json::array({"last-name"});
  return config;
}

Json names_json(const std::string& fabric, const std::vector<Watch>& watches) {
  Json list = Json::array();
  for (const Watch& watch : watches) {
    Json one = {{"plan", watch.name},
                {"system", watch.os},
                {"version", watch.version},
                {"switches", watch.switches},
                {"ports", Json::array()}};
    for (const WatchedPorts& group : watch.groups) {
      Json queues = Json::array();
      for (const WatchedQueue& queue : group.queues) {
        Json row = {{"queue", queue.queue},     {"name", queue.label},
                    {"carries", queue.carries}, {"part", name_of(queue.part)},
                    {"dscps", queue.dscps},     {"limit_bytes", queue.limit_bytes}};
        if (!queue.shed.empty()) {
          row["sheds"] = queue.shed;
          row["shed_share"] = queue.shed_share;
        }
        if (watch.names != nullptr && !watch.names->path.empty() && !group.ports.empty())
          row["gnmi"] = filled(watch.names->path, group.ports.front(), queue.label);
        queues.push_back(std::move(row));
      }
      one["ports"].push_back({{"role", group.role}, {"ports", group.ports}, {"queues", queues}});
    }
    one["counters"] = Json::object();
    for (std::size_t i = 0; watch.names != nullptr && i < kCounterCount; ++i) {
      const CounterName* name = watch.names->counter(static_cast<Counter>(i), watch.version);
      if (name == nullptr) continue;
      Json row = {{"prometheus", name->metric}};
      if (!name->where.empty()) row["where"] = name->where;
      if (!name->leaf.empty() && !watch.names->path.empty()) row["gnmi_leaf"] = name->leaf;
      one["counters"][name_of(static_cast<Counter>(i))] = std::move(row);
    }
    if (watch.names != nullptr) {
      one["labels"] = {{"port", watch.names->port_label}, {"queue", watch.names->queue_label}};
      one["sources"] = watch.names->sources;
    }
    list.push_back(std::move(one));
  }
  return {{"fabric", fabric}, {"plans", list}};
}

std::string not_counted(const Watch& watch) {
  std::string text;
  constexpr const char* kMeans[kCounterCount] = {
      "verify cannot check anything",
      "no alert on loss",
      ("one counter has both early drops, which are planned, and drops of a full queue: "
       "DlcpSwitchTailDrops, -ShedsAll, -NeverMarks and -NeverSheds never fire"),
      "DlcpSwitchNeverMarks and -NeverSheds never fire",
      "",
      "DlcpSwitchQueueDeep never fires"};
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    if (watch.names->counter(static_cast<Counter>(i), watch.version) != nullptr || *kMeans[i] == 0)
      continue;
    text +=
        fmt::format("- not counted here: {} ({})\n", name_of(static_cast<Counter>(i)), kMeans[i]);
  }
  if (!watch.names->pfc) text += "- not counted here: pause frames (DlcpSwitchPfc never fires)\n";
  return text;
}

std::string system_text(const Watch& watch) {
  std::string text = fmt::format(
      "\n## {}: {} {}, {}{}\n\n", watch.name, watch.os, watch.version, watch.switches.front(),
      watch.switches.size() > 1 ? fmt::format(" and {} more", watch.switches.size() - 1) : "");
  if (watch.names == nullptr)
    return text +
           "No exporter is known for this system's queues: use `dlcp-switch verify --captured`.\n";
  text += "| counter | Prometheus | gNMI |\n|---|---|---|\n";
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const CounterName* name = watch.names->counter(static_cast<Counter>(i), watch.version);
    if (name == nullptr) continue;
    const bool gnmi = !watch.names->path.empty() && !name->leaf.empty();
    text += fmt::format("| {} | `{}` | {} |\n", name_of(static_cast<Counter>(i)), name->metric,
                        gnmi ? fmt::format("`{}`: `{}`", watch.names->path, name->leaf) : "-");
  }
  text += '\n' + not_counted(watch);
  for (const auto& [what, address] : watch.names->sources)
    text += fmt::format("- {}: {}\n", what, address);
  if (!watch.names->unverified.empty())
    text += fmt::format("- **not verified**: {}\n", watch.names->unverified);
  return text;
}

constexpr std::string_view kHowSonic =
    "- SONiC: run [sonic-exporter](https://github.com/vinted/sonic-exporter) on the switch, and "
    "the "
    "node exporter with `sonic-queue-counters.py` for counters that sonic-exporter lacks (early "
    "drops, marks, trims, pause frames):\n  `while sleep 15; do sonic-queue-counters.py > q.tmp && "
    "mv q.tmp "
    "/var/lib/node_exporter/sonic_queues.prom; done`. Scrape both with `targets.json` as "
    "`file_sd_configs` (for the node exporter, replace `:9101` by `:9100`).\n";
constexpr std::string_view kHowGnmi =
    "- gNMI: `gnmic --config gnmic.json subscribe`, with GNMIC_USERNAME, GNMIC_PASSWORD and the "
    "site's TLS settings; scrape its port 9804 with `honor_labels: true`.\n";
constexpr std::string_view kHowOtlp =
    "- Cumulus Linux: `nv set system telemetry export otlp state enabled`, `nv set system "
    "telemetry "
    "interface-stats export state enabled`, and `nv set system telemetry interface-stats "
    "egress-buffer traffic-class N` and `switch-priority N` for each queue above; the collector's "
    "Prometheus exporter has to add the labels `fabric`, `switch` and `dlcp_plan`.\n";

std::string readme(const std::string& fabric, const std::vector<Watch>& watches,
                   const std::set<std::string>& collectors) {
  std::string text = fmt::format(
      "# {}: monitoring DLCP's queues\n\n"
      "Add `rules.yml` to Prometheus' `rule_files`, and import `dashboard.json` into Grafana "
      "(Dashboards, New, Import). `names.json` is for other collectors. The files belong to this "
      "plan: write them again after every change of the intent. They were not tested with a "
      "switch. The rules are checked with promtool, and the dashboard's queries against the series "
      "that the rules record.\n\n"
      "Raw series need three labels: `fabric` ({}), `switch`, and `dlcp_plan`, the plan with which "
      "they are compared.\n\n",
      fabric, fabric);
  if (collectors.count("sonic-exporter") != 0) text += kHowSonic;
  if (collectors.count("gnmic") != 0) text += kHowGnmi;
  if (collectors.count("otlp") != 0) text += kHowOtlp;
  text += fmt::format(
      "\nTo check one switch with its data in Prometheus:\n\n```\ncurl -sG "
      "http://PROMETHEUS:9090/api/v1/query --data-urlencode 'query={}' > captured.json\n"
      "dlcp-switch verify intent.yaml --switch SWITCH --captured captured.json\n```\n",
      query_of("SWITCH"));
  for (const Watch& watch : watches)
    text += system_text(watch);
  return text;
}

}  // namespace

std::string query_of(const std::string& switch_name) {
  return fmt::format("{{__name__=~\"{}.*:rate5m\",switch=\"{}\"}}", kRecorded, switch_name);
}

std::vector<TextFile> collection_files(const std::string& fabric,
                                       const std::vector<Watch>& watches) {
  std::set<std::string> collectors;
  for (const Watch& watch : watches)
    if (watch.names != nullptr) collectors.insert(watch.names->collector);
  std::vector<TextFile> files = {{"TELEMETRY.md", readme(fabric, watches, collectors)},
                                 {"names.json", names_json(fabric, watches).dump(1) + "\n"}};
  if (const Json targets = scrape_targets(fabric, watches); !targets.empty()) {
    files.push_back({"targets.json", targets.dump(1) + "\n"});
    files.push_back({kSonicScript, std::string(embedded::kSonicQueueCounters), true});
  }
  if (const Json config = gnmic_config(fabric, watches); !config.is_null())
    files.push_back({"gnmic.json", config.dump(1) + "\n"});
  return files;
}

}  // namespace dlcp::fabric::telemetry
