#include "switch/telemetry/names.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "switch/targets/target_files.h"

namespace dlcp::fabric::telemetry {
namespace {

using Json = nlohmann::json;

constexpr const char* kCounters[kCounterCount] = {"packets", "drops", "early_drops",
                                                  "marks",   "trims", "watermark"};

std::string text(const Json& data, const char* key) {
  return data.value(key, std::string());
}

Names names_of(const std::string& os, const Json& data) {
  Names names;
  names.os = os;
  names.collector = text(data, "collector");
  names.tcp_port = data.value("tcp_port", 0);
  names.path = text(data, "path");
  names.entries = text(data, "entries");
  names.gnmi_target = text(data, "gnmi_target");
  names.queues_by_name = data.value("queues_by_name", false);
  names.port_label = text(data, "port_label");
  names.queue_label = text(data, "queue_label");
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto row = data.at("counters").find(kCounters[i]);
    if (row == data.at("counters").end()) continue;
    CounterName& name = names.counters[i].emplace();
    name.leaf = text(*row, "leaf");
    name.metric = row->value("metric", gnmic_metric(name.leaf));
    name.where = text(*row, "where");
    name.since = text(*row, "since");
    name.adds_early = row->contains("adds");
  }
  if (const auto pfc = data.find("pfc"); pfc != data.end()) {
    PfcName& name = names.pfc.emplace();
    name.path = text(*pfc, "path");
    name.leaf = text(*pfc, "leaf");
    name.metric = pfc->value("metric", gnmic_metric(name.leaf));
    name.port_label = text(*pfc, "port_label");
    name.priority_label = text(*pfc, "priority_label");
  }
  names.sources = data.at("sources").get<std::map<std::string, std::string>>();
  names.unverified = text(data, "unverified");
  return names;
}

std::vector<Names> read_names() {
  std::vector<Names> list;
  for (const TargetFile& file : target_files()) {
    const auto data = Json::parse(file.data);
    const auto found = data.find("telemetry");
    if (found != data.end()) list.push_back(names_of(data.at("os"), *found));
  }
  return list;
}

}  // namespace

const char* name_of(Counter counter) {
  return kCounters[static_cast<std::size_t>(counter)];
}

const CounterName* Names::counter(Counter which, std::string_view version) const {
  const auto& name = counter(which);
  if (!name) return nullptr;
  const bool dated =
      !name->since.empty() && !version.empty() && version[0] >= '0' && version[0] <= '9';
  return dated && version.substr(0, name->since.size()) < name->since ? nullptr : &*name;
}

const Names* find_names(std::string_view os) {
  static const auto kNames = read_names();
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [os](const Names& names) { return names.os == os; });
  return found == kNames.end() ? nullptr : &*found;
}

std::string gnmic_metric(std::string_view leaf) {
  std::string name = std::string(kGnmicPrefix) + "_" + std::string(leaf);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_';
      },
      '_');
  return name;
}

}  // namespace dlcp::fabric::telemetry
