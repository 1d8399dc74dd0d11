// `dlcp stats` for Prometheus: counters, histograms that can be added over ranks, and labels that
// stay the same between jobs: job, user, host, rank.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "cli/stats/output/formats.h"

namespace dlcp::cli {
namespace {

double seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1e9;
}

std::string label_value(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// One metric: its head, then its samples.
class Metric {
 public:
  Metric(std::string& out, const std::string& name, const char* type, std::string_view help)
      : out_(out), name_(name) {
    out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  template <class Number>
  void sample(const std::string& labels, Number value, const char* suffix = "") {
    out_ += fmt::format("{}{}{{{}}} {}\n", name_, suffix, labels, value);
  }

 private:
  std::string& out_;
  std::string name_;
};

struct Labelled {
  const ProcessSnapshot* process;
  std::string labels;
};

// Job and rank stay the same when a job is restarted. A process id does not, and is added only if
// nothing else distinguishes two processes. Further copies of the plugin in a process are numbered.
std::vector<Labelled> with_labels(const std::vector<ProcessSnapshot>& processes,
                                  const std::string& host) {
  std::vector<Labelled> all;
  std::map<std::string, int> seen;
  for (const ProcessSnapshot& process : processes) {
    std::string labels = fmt::format("host={},user={},job_id={},rank={}", label_value(host),
                                     label_value(process.user), label_value(process.launch.job),
                                     label_value(process.launch.rank));
    ++seen[labels];
    all.push_back({&process, std::move(labels)});
  }
  std::map<int, int> copies;  // by process id
  for (Labelled& one : all) {
    if (seen[one.labels] > 1) one.labels += fmt::format(",pid=\"{}\"", one.process->pid);
    if (const int copy = ++copies[one.process->pid]; copy > 1)
      one.labels += fmt::format(",plugin=\"{}\"", copy);
  }
  return all;
}

// Sums over the communicators on one device of a process. A series for each communicator would
// create new series in each job.
struct DeviceSums {
  std::uint64_t licensed_bytes = 0, lost_bytes = 0, budget_used_ppm = 0;
  DurationHistogram sends, receives;
};

using EachDevice =
    std::function<void(const std::string& labels, const engine::LiveDevice&, const DeviceSums&)>;

void each_device(const std::vector<Labelled>& processes, const EachDevice& take) {
  for (const auto& [process, labels] : processes) {
    for (std::size_t i = 0; i < process->devices.size(); ++i) {
      const engine::LiveDevice& device = process->devices[i];
      if (device.name.view().empty()) continue;
      DeviceSums sums;
      for (const auto& row : process->communicators) {
        if (row.device != i) continue;
        sums.licensed_bytes += row.licensed_bytes;
        sums.lost_bytes += row.lost_bytes;
        sums.budget_used_ppm = std::max(sums.budget_used_ppm, row.budget_used_ppm);
        sums.sends.merge(row.sends);
        sums.receives.merge(row.receives);
      }
      take(fmt::format("{},device={},datapath={}", labels, label_value(device.name.view()),
                       label_value(device.datapath.view())),
           device, sums);
    }
  }
}

constexpr std::string_view kDropped = "dropped_";

void counter_metrics(std::string& out, const std::vector<Labelled>& processes) {
  for (const auto& counter : core::kCounterRows) {
    const std::string_view help = counter.help;
    if (std::string_view(counter.name).starts_with(kDropped)) continue;
    Metric metric(out, fmt::format("dlcp_{}_total", counter.name), "counter",
                  help.empty() ? counter.name : help);
    each_device(processes, [&](const std::string& labels, const auto& device, const auto&) {
      metric.sample(labels, count_of(device.counters, counter.counter));
    });
  }
}

// One metric with a label for the reason, so that rates can be added and a new reason needs no new
// rule.
void dropped_metric(std::string& out, const std::vector<Labelled>& processes) {
  Metric metric(out, "dlcp_dropped_packets_total", "counter",
                "packets that arrived and were dropped; `dlcp counters` explains each reason");
  each_device(processes, [&](const std::string& labels, const auto& device, const auto&) {
    for (const auto& counter : core::kCounterRows) {
      const std::string_view name = counter.name;
      if (!name.starts_with(kDropped)) continue;
      metric.sample(fmt::format("{},reason={}", labels, label_value(name.substr(kDropped.size()))),
                    count_of(device.counters, counter.counter));
    }
  });
}

void histogram_samples(Metric& metric, const std::string& labels, const char* side,
                       const DurationHistogram& histogram) {
  const std::string all = fmt::format("{},side=\"{}\"", labels, side);
  for (unsigned power = 0; power <= DurationHistogram::kPowersMax; ++power)
    metric.sample(fmt::format("{},le=\"{}\"", all, std::ldexp(1e-6, static_cast<int>(power))),
                  histogram.count_below_power(power), "_bucket");
  metric.sample(all + ",le=\"+Inf\"", histogram.count(), "_bucket");
  metric.sample(all, seconds(histogram.sum()), "_sum");
  metric.sample(all, histogram.count(), "_count");
}

void message_metrics(std::string& out, const std::vector<Labelled>& processes) {
  Metric metric(out, "dlcp_message_seconds", "histogram",
                "duration of messages, from isend or irecv until completion");
  each_device(processes, [&](const std::string& labels, const auto&, const DeviceSums& sums) {
    histogram_samples(metric, labels, "send", sums.sends);
    histogram_samples(metric, labels, "receive", sums.receives);
  });
}

template <class Value>
void device_metric(std::string& out, const std::vector<Labelled>& processes, const char* name,
                   const char* type, const char* help, Value value) {
  Metric metric(out, name, type, help);
  each_device(processes, [&](const std::string& labels, const auto&, const DeviceSums& sums) {
    metric.sample(labels, value(sums));
  });
}

void process_metrics(std::string& out, const std::vector<Labelled>& processes,
                     const std::string& host) {
  Metric(out, "dlcp_processes", "gauge", "number of processes of this host that use the plugin")
      .sample(fmt::format("host={}", label_value(host)), processes.size());
  {
    Metric build(out, "dlcp_build_info", "gauge",
                 "always 1; the label is the version of the running plugin");
    for (const auto& [process, labels] : processes)
      build.sample(fmt::format("{},version={}", labels, label_value(process->version)), 1);
  }
  {
    Metric start(out, "dlcp_start_time_seconds", "gauge",
                 "when the plugin started, in seconds since 1970");
    for (const auto& [process, labels] : processes)
      start.sample(labels, process->started_at);
  }
  Metric exact(out, "dlcp_made_exact", "gauge", "1 if `dlcp exact` forbids all loss, else 0");
  for (const auto& [process, labels] : processes)
    exact.sample(labels, process->made_exact ? 1 : 0);
}

}  // namespace

std::string to_prometheus(const std::vector<ProcessSnapshot>& snapshots, const std::string& host) {
  const std::vector<Labelled> processes = with_labels(snapshots, host);
  std::string out;
  process_metrics(out, processes, host);
  counter_metrics(out, processes);
  dropped_metric(out, processes);
  device_metric(
      out, processes, "dlcp_licensed_bytes_total", "counter",
      "bytes received under a licence, which may be lost within the budget",
      [](const DeviceSums& sums) { return sums.licensed_bytes; });
  device_metric(
      out, processes, "dlcp_licensed_lost_bytes_total", "counter",
      "part of dlcp_licensed_bytes_total that was lost",
      [](const DeviceSums& sums) { return sums.lost_bytes; });
  device_metric(
      out, processes, "dlcp_loss_budget_used_ratio", "gauge",
      "largest share of its loss budget that one collective used",
      [](const DeviceSums& sums) { return static_cast<double>(sums.budget_used_ppm) / 1e6; });
  message_metrics(out, processes);
  return out;
}

}  // namespace dlcp::cli
