// `dlcp stats` for programs: JSON, and Prometheus' text format.
#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "cli/stats/snapshot.h"

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
                               {"counters", counters_json(device.counters)}});
  }
  for (const auto& row : process.communicators)
    json["communicators"].push_back(communicator_json(process, row));
  for (const auto& row : process.paths) {
    json["paths"].push_back({{"connection", row.connection},
                             {"context", row.context},
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

std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// One metric: its head, then a sample for every row that has one.
class Metric {
 public:
  Metric(std::string& out, const char* name, const char* type, const char* help)
      : out_(out), name_(name) {
    out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  void sample(const std::string& labels, double value) {
    out_ += fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }
  void sample(const std::string& labels, std::uint64_t value) {
    out_ += fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }

 private:
  std::string& out_;
  const char* name_;
};

using EachCommunicator =
    std::function<void(const std::string& labels, const engine::LiveCommunicator& row)>;

void each_communicator(const std::vector<ProcessSnapshot>& processes,
                       const EachCommunicator& take) {
  for (const auto& process : processes) {
    for (const auto& row : process.communicators) {
      take(fmt::format(
               "pid=\"{}\",device=\"{}\",communicator=\"{:016x}\",context=\"{}\",rank=\"{}\"",
               process.pid, label(process.device_name(row.device)), row.communicator, row.context,
               row.rank),
           row);
    }
  }
}

void counters_metrics(std::string& out, const std::vector<ProcessSnapshot>& processes) {
  for (const auto& counter : core::kCounterRows) {
    const std::string name = fmt::format("dlcp_{}_total", counter.name);
    Metric metric(out, name.c_str(), "counter", counter.help);
    for (const auto& process : processes) {
      for (const auto& device : process.devices) {
        if (device.name.view().empty()) continue;
        metric.sample(fmt::format("pid=\"{}\",device=\"{}\",datapath=\"{}\"", process.pid,
                                  label(device.name.view()), label(device.datapath.view())),
                      count_of(device.counters, counter.counter));
      }
    }
  }
}

void times_metrics(std::string& out, const std::vector<ProcessSnapshot>& processes) {
  Metric metric(out, "dlcp_message_seconds", "summary",
                "how long messages take, from isend or irecv until they are done");
  each_communicator(processes, [&](const std::string& labels, const auto& row) {
    for (const bool sends : {true, false}) {
      const DurationHistogram& histogram = sends ? row.sends : row.receives;
      const auto side = fmt::format("{},side=\"{}\"", labels, sends ? "send" : "receive");
      for (const double share : {0.5, 0.99, 0.999})
        metric.sample(fmt::format("{},quantile=\"{}\"", side, share),
                      seconds(histogram.percentile(share)));
    }
  });
}

}  // namespace

std::string to_json(const std::vector<ProcessSnapshot>& processes) {
  Json json = Json::array();
  for (const auto& process : processes)
    json.push_back(process_json(process));
  return Json{{"processes", json}}.dump(2) + "\n";
}

std::string to_prometheus(const std::vector<ProcessSnapshot>& processes) {
  std::string out;
  counters_metrics(out, processes);
  {
    Metric metric(out, "dlcp_licensed_bytes_total", "counter",
                  "bytes received that may be lost within the budget");
    each_communicator(processes, [&](const std::string& labels, const auto& row) {
      metric.sample(labels, row.licensed_bytes);
    });
  }
  {
    Metric metric(out, "dlcp_licensed_lost_bytes_total", "counter", "of them, lost");
    each_communicator(processes, [&](const std::string& labels, const auto& row) {
      metric.sample(labels, row.lost_bytes);
    });
  }
  {
    Metric metric(out, "dlcp_loss_budget_used_ratio", "gauge",
                  "largest part of one collective's loss budget that was spent");
    each_communicator(processes, [&](const std::string& labels, const auto& row) {
      metric.sample(labels, static_cast<double>(row.budget_used_ppm) / 1e6);
    });
  }
  times_metrics(out, processes);
  return out;
}

}  // namespace dlcp::cli
