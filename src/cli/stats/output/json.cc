// `dlcp stats --json`.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_line/output/json_text.h"
#include "cli/stats/output/formats.h"

namespace dlcp::cli {
namespace {

using Json = nlohmann::ordered_json;

double seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1e9;
}

Json counters_json(const std::array<std::uint64_t, core::kCounterCount>& counters) {
  Json json = Json::object();
  for (const auto& row : core::kCounterRows)
    json[row.name] = count_of(counters, row.counter);
  return json;
}

Json datapath_counters_json(const engine::LiveDevice& device) {
  Json json = Json::object();
  for (const engine::LiveCount& count : device.datapath_counts) {
    if (count.name.view().empty()) break;
    json[std::string(count.name.view())] = count.value;
  }
  return json;
}

Json times_json(const DurationHistogram& histogram) {
  return {{"count", histogram.count()},
          {"p50_s", seconds(histogram.percentile(0.5))},
          {"p99_s", seconds(histogram.percentile(0.99))},
          {"p999_s", seconds(histogram.percentile(0.999))}};
}

double delivered_share(const engine::LiveCommunicator& row) {
  if (row.licensed_bytes == 0) return 1;
  return 1 - static_cast<double>(row.lost_bytes) / static_cast<double>(row.licensed_bytes);
}

Json communicator_json(const ProcessSnapshot& process, const engine::LiveCommunicator& row) {
  Json json = {{"communicator", fmt::format("{:016x}", row.communicator)},
               {"context", row.context},
               {"device", process.device_name(row.device)},
               {"rank", row.rank},
               {"ranks", row.ranks},
               {"budget", static_cast<double>(row.budget_ppm) / 1e6},
               {"exact_because", row.exact_because.view()},
               {"all_reduce", row.all_reduce.view()},
               {"blocks_whole", row.blocks_whole},
               {"blocks_partial", row.blocks_partial},
               {"licensed_bytes", row.licensed_bytes},
               {"lost_bytes", row.lost_bytes},
               {"delivered_share", delivered_share(row)},
               {"budget_used_max", static_cast<double>(row.budget_used_ppm) / 1e6},
               {"send", times_json(row.sends)},
               {"receive", times_json(row.receives)}};
  json["counters"] = counters_json(row.counters);
  return json;
}

Json process_json(const ProcessSnapshot& process) {
  Json json = {{"pid", process.pid},
               {"command", process.command},
               {"version", process.version},
               {"user", process.user},
               {"job", process.launch.job},
               {"job_rank", process.launch.rank},
               {"started_at", process.started_at},
               {"made_exact", process.made_exact},
               {"devices", Json::array()},
               {"communicators", Json::array()},
               {"paths", Json::array()}};
  for (const auto& device : process.devices) {
    if (device.name.view().empty()) continue;
    json["devices"].push_back({{"name", device.name.view()},
                               {"datapath", device.datapath.view()},
                               {"address", device.address.view()},
                               {"counters", counters_json(device.counters)},
                               {"datapath_counters", datapath_counters_json(device)}});
  }
  for (const auto& row : process.communicators)
    json["communicators"].push_back(communicator_json(process, row));
  for (const auto& row : process.paths) {
    json["paths"].push_back({{"association", row.association},
                             {"device", process.device_name(row.device)},
                             {"path", row.path},
                             {"tuple", row.tuple.view()},
                             {"packets", row.sent},
                             {"lost", static_cast<double>(row.lost_ppm) / 1e6},
                             {"delay_s", static_cast<double>(row.delay_ns) / 1e9},
                             {"avoided", row.avoided != 0}});
  }
  return json;
}

}  // namespace

std::string to_json(const std::vector<ProcessSnapshot>& processes) {
  Json json = Json::array();
  for (const auto& process : processes)
    json.push_back(process_json(process));
  return json_text(Json{{"processes", json}}, 2) + "\n";
}

}  // namespace dlcp::cli
