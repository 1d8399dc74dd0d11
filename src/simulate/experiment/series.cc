#include "simulate/experiment/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dlcp::simulate {
namespace {

double us(Duration duration) {
  return static_cast<double>(duration.count()) * 1e-3;
}

std::vector<double> times_of(const Outcome& outcome, bool neighbours = false) {
  std::vector<double> times;
  for (const Finish& finish : outcome.finishes)
    if (finish.neighbour == neighbours) times.push_back(us(finish.took()));
  return times;
}

double mean_of(const std::vector<double>& times) {
  double sum = 0;
  for (const double time : times)
    sum += time;
  return sum / static_cast<double>(std::max<std::size_t>(times.size(), 1));
}

}  // namespace

Metric completion() {
  return {"completion", "us", [](const Outcome& o) { return us(o.took); }};
}
Metric sent_twice() {
  return {"sent twice", "%", [](const Outcome& o) { return 100 * o.transport.again(); }};
}
Metric given_up() {
  return {"given up", "%",
          [](const Outcome& o) {
            return 100 * static_cast<double>(o.transport.bytes_given_up) /
                   static_cast<double>(o.transport.bytes);
          }};
}
Metric lost_energy() {
  return {"energy lost", "%",
          [](const Outcome& o) {
            return o.transport.energy > 0 ? 100 * o.transport.energy_given_up / o.transport.energy
                                          : 0;
          }};
}
Metric busiest() {
  return {"busiest link", "of mean", [](const Outcome& o) { return o.imbalance; }};
}
Metric mean_time() {
  return {"mean time", "us", [](const Outcome& o) { return mean_of(times_of(o)); }};
}
Metric tail_time() {
  return {"p99 time", "us", [](const Outcome& o) { return quantile(times_of(o), 0.99); }};
}

Metric neighbour_mean() {
  return {"others' mean", "us", [](const Outcome& o) { return mean_of(times_of(o, true)); }};
}
Metric neighbour_tail() {
  return {"others' p99", "us", [](const Outcome& o) { return quantile(times_of(o, true), 0.99); }};
}

FabricPlan paper_fabric(bool quick, double oversubscription) {
  Wire uplink;
  uplink.gbit_per_s = (quick ? 100 : 400) / oversubscription;
  return quick ? leaf_spine(4, 4, 4, Wire{}, uplink) : leaf_spine(9, 16, 4, Wire{}, uplink);
}

std::string paper_fabric_words(bool quick) {
  return quick ? "16 hosts, 4 leaves, 4 spines, 100 Gbit/s, 1 us links"
               : "144 hosts, 9 leaves, 4 spines, 100 Gbit/s, 1 us links";
}

Series::Series(std::string name, std::string title, const FigureWishes& wishes) : wishes_(wishes) {
  figure_.name = std::move(name);
  figure_.title = std::move(title);
  for (std::uint64_t seed = 1; seed <= wishes.seeds; ++seed)
    figure_.seeds.push_back(seed);
  if (!wishes.only.empty()) parameter("only", "cases with '" + wishes.only + "'");
}

void Series::run(const Case& one, const std::vector<Metric>& metrics) {
  if ((one.experiment + ", " + one.transport).find(wishes_.only) == std::string::npos) return;
  std::vector<std::vector<double>> samples(metrics.size());
  for (const std::uint64_t seed : figure_.seeds) {
    if (wishes_.progress)
      wishes_.progress(fmt::format("{}: {}, {}, seed {} of {}", figure_.name, one.experiment,
                                   one.transport, seed, figure_.seeds.size()));
    Setting setting = one.setting;
    setting.seed = seed;
    setting.hosts.places = wishes_.placed;
    const Workload workload = one.workload(seed);
    const Outcome outcome = simulate::run(setting, workload);
    if (!outcome.ended)
      throw std::runtime_error(
          fmt::format("{}, {}, seed {}: not finished within {} ms of simulated time",
                      one.experiment, one.transport, seed, us(setting.limit) / 1e3));
    for (std::size_t i = 0; i < metrics.size(); ++i)
      samples[i].push_back(metrics[i].value(outcome));
  }
  for (std::size_t i = 0; i < metrics.size(); ++i)
    figure_.rows.push_back(
        {one.experiment, one.transport, metrics[i].name, metrics[i].unit, interval_of(samples[i])});
}

const FigureRow* Series::find(const std::string& experiment, const std::string& transport,
                              const std::string& metric) const {
  for (const FigureRow& row : figure_.rows)
    if (row.experiment == experiment && row.transport == transport && row.metric == metric)
      return &row;
  return nullptr;
}

double Series::mean(const std::string& experiment, const std::string& transport,
                    const std::string& metric) const {
  const FigureRow* row = find(experiment, transport, metric);
  return row == nullptr ? 0 : row->value.mean;
}

void Series::compare(const std::string& ours, const std::string& theirs,
                     const std::string& metric) {
  for (const FigureRow& row : std::vector<FigureRow>(figure_.rows)) {
    if (row.transport != ours || row.metric != metric) continue;
    const FigureRow* other = find(row.experiment, theirs, metric);
    if (other == nullptr || other->value.mean <= 0) continue;
    const double ratio = row.value.mean / other->value.mean;
    const bool apart = row.value.high < other->value.low || row.value.low > other->value.high;
    const char* verdict = figure_.seeds.size() < 2 ? "one seed, so not judged"
                          : !apart                 ? "no significant difference"
                          : ratio < 1              ? "better"
                                                   : "WORSE";
    figure_.notes.push_back(fmt::format("{}: {} of {} is {:.2f} times that of {}: {}",
                                        row.experiment, metric, ours, ratio, theirs, verdict));
  }
}

}  // namespace dlcp::simulate
