#include "cli/bench/rank/turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/bench/modes/modes.h"
#include "cli/launch/clock.h"

namespace dlcp::cli {
namespace {

using RankPlugins = std::vector<std::unique_ptr<RankPlugin>>;

constexpr const char* kCompared[] = {"bus_gbps",        "p50_us",        "p99_us",
                                     "p999_us",         "cpu_s_per_gib", "user_s_per_gib",
                                     "kernel_s_per_gib"};

double others_cpu(const RankPlugins& plugins, std::size_t except) {
  double seconds = 0;
  for (std::size_t i = 0; i < plugins.size(); i++)
    if (i != except) seconds += plugins[i]->threads_cpu_seconds();
  return seconds;
}

// Every rank's result of one turn.
std::vector<RankResult> turn_of(const std::vector<RankResult>& results, std::size_t turn) {
  std::vector<RankResult> all;
  for (const RankResult& rank : results)
    all.push_back(rank.turns[turn]);
  return all;
}

Report report_of(const BenchCase& c, const std::vector<RankResult>& results, int plugin) {
  std::vector<RankResult> whole(results.size());
  Turns turns;
  for (std::size_t i = 0; i < results[0].turns.size(); i++) {
    if (results[0].turns[i].plugin != plugin) continue;
    const std::vector<RankResult> turn = turn_of(results, i);
    for (std::size_t rank = 0; rank < turn.size(); rank++)
      whole[rank] += turn[rank];
    const nlohmann::json report = make_report(c, turn, 0).to_json();
    for (const char* key : kCompared)
      turns.values[key].push_back(report[key].is_number() ? report[key].get<double>() : 0);
  }
  for (const RankResult& rank : whole)
    if (rank.turn_seconds > 0)
      turns.others_cpu_share += rank.others_cpu_seconds / rank.turn_seconds;
  turns.settings = settings_text(c.plugins[static_cast<std::size_t>(plugin)]);
  Report report = make_report(c, whole, 0);
  report.turns = std::move(turns);
  return report;
}

void compare(Turns& turns, const Turns& first) {
  for (const char* key : kCompared) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < turns.values[key].size(); i++)
      if (const double base = first.values.at(key)[i]; base > 0 && turns.values[key][i] > 0)
        ratios.push_back(turns.values[key][i] / base);
    if (!ratios.empty()) turns.ratios[key] = quartiles_of(ratios);
  }
}

std::string in_us(std::int64_t ns) {
  const double us = static_cast<double>(ns) * 1e-3;
  return us < 1000 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

}  // namespace

void run_in_turns(const BenchCase& c, const RankPlugins& plugins, Control& control, RankResult& r) {
  const std::size_t count = plugins.size();
  const std::size_t turns = count * static_cast<std::size_t>(c.turns);
  BenchCase turn = c;
  for (std::size_t i = 0; i < turns; i++) {
    const std::size_t place = i % count;
    const std::size_t chosen = i / count % 2 == 0 ? place : count - 1 - place;
    // Memory may be used again in the next turn, where old data must not look like new data.
    turn.seed = mix64(c.seed + i);
    RankResult result;
    result.rank = control.rank();
    result.plugin = static_cast<int>(chosen);
    plugins[chosen]->identify(r);
    const double idle = others_cpu(plugins, chosen);
    const std::int64_t start = now_ns();
    plugins[chosen]->run(turn, result);
    control.barrier();  // the next turn's preparations must not take processors from this turn
    result.turn_seconds = static_cast<double>(now_ns() - start) * 1e-9;
    result.others_cpu_seconds = others_cpu(plugins, chosen) - idle;
    r.wrong += result.wrong;
    r.turns.push_back(std::move(result));
  }
}

std::vector<Report> make_turn_reports(const BenchCase& c, const std::vector<RankResult>& results) {
  const std::size_t turns = c.plugins.size() * static_cast<std::size_t>(c.turns);
  const auto failed = [&](const RankResult& rank) {
    return !rank.error.empty() || rank.turns.size() != turns;
  };
  if (std::ranges::any_of(results, failed)) return {make_report(c, results, 0)};
  std::vector<Report> reports;
  for (std::size_t i = 0; i < c.plugins.size(); i++) {
    reports.push_back(report_of(c, results, static_cast<int>(i)));
    compare(*reports.back().turns, *reports.front().turns);
  }
  return reports;
}

std::string turn_table(const std::vector<Report>& reports) {
  const BenchCase& c = reports[0].bench_case;
  const bool latency = c.mode == Mode::kLatency;
  const char* const key = latency ? "p50_us" : "bus_gbps";
  std::string text = fmt::format(
      "{}, {} ranks, size {}, {} rounds; ratio and quartiles of {}\n"
      "{:<22} {:>7} {:>6} {:>11} {:>8} {:>8} {:>5} {:>5}",
      name_of(c.mode), c.ranks, format_size(c.size), c.turns, latency ? "p50" : "Gb/s", "plugin",
      "Gb/s", "ratio", "quartiles", "p50 us", "p99 us", "user", "kern.");
  for (const Report& r : reports) {
    const auto ratios = r.turns->ratios.find(key);
    const bool compared = ratios != r.turns->ratios.end();
    const Quartiles q = compared ? ratios->second : Quartiles{};
    const std::string& settings = r.turns->settings;
    text += fmt::format("\n{:<22.22} {:>7.2f} {:>6} {:>11} {:>8} {:>8} {:>5.2f} {:>5.2f}",
                        r.plugin_name + (settings.empty() ? "" : " " + settings), r.bus_gbps,
                        compared ? fmt::format("{:.3f}", q.median) : "-",
                        compared ? fmt::format("{:.3f}-{:.3f}", q.low, q.high) : "-",
                        in_us(r.times.percentile(0.5)), in_us(r.times.percentile(0.99)),
                        r.cpu_s_per_gib - r.kernel_s_per_gib, r.kernel_s_per_gib);
    if (r.wrong.bytes > 0) text += fmt::format("\n  wrong bytes: {}", r.wrong.bytes);
    if (r.turns->others_cpu_share > 0.01)
      text += fmt::format("\n  the idle plugins' threads used {:.1f}% of a core in its turns",
                          r.turns->others_cpu_share * 100);
  }
  return text;
}

}  // namespace dlcp::cli
