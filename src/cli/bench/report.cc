#include "cli/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "cli/bench/modes/modes.h"
#include "cli/bench/own_servers.h"

namespace dlcp::cli {
namespace {

// Wrong data is the worst result. A usage error ranks next, as it explains the other failures.
int badness(ExitCode code) {
  switch (code) {
    case ExitCode::kOk:
      return 0;
    case ExitCode::kTransport:
      return 1;
    case ExitCode::kTimeout:
      return 2;
    case ExitCode::kUsage:
      return 3;
    case ExitCode::kWrongData:
      return 4;
  }
  return 4;
}

void add_rates(Report& r, const std::vector<RankResult>& results) {
  double longest = 0;
  double together = 0;
  CpuTime cpu;
  for (const RankResult& rank : results) {
    longest = std::max(longest, rank.seconds);
    together += rank.seconds;
    cpu += rank.cpu;
    r.bytes += rank.bytes;
    r.messages += rank.messages;
  }
  r.seconds = longest;
  if (together > 0)
    r.reduce_gbyte_per_s =
        static_cast<double>(r.bench_case.size) * static_cast<double>(r.messages) / together * 1e-9;
  const double bits = static_cast<double>(r.bytes) * 8e-9;
  if (longest > 0) r.aggregate_gbps = bits / longest;
  const bool per_rank = traits_of(r.bench_case.mode).per_rank;
  // Per rank, a rank's bytes received over its time: 2(n-1)/n x size / time for a ring.
  r.bus_gbps = per_rank ? (together > 0 ? bits / together : 0) : r.aggregate_gbps;
  if (r.bytes == 0) return;
  const double gib = static_cast<double>(r.bytes) / 1073741824.0;
  r.cpu_s_per_gib = cpu.total() / gib;
  // The user time without the checks may be estimated as less than nothing.
  r.kernel_s_per_gib = std::min(cpu.kernel, cpu.total()) / gib;
}

// Kinds of errors. Those that are nearest to the cause of a failure come first.
enum class Cause : std::uint8_t {
  kSetting,
  kOwn,   // the rank itself has failed
  kPeer,  // a peer has failed before, or cannot be reached
  kStopped,
};

Cause cause_of(const RankResult& rank) {
  if (rank.stopped) return Cause::kStopped;
  if (rank.exit_code == ExitCode::kUsage || rank.result == nccl::ResultCode::kInvalidUsage)
    return Cause::kSetting;
  return rank.result == nccl::ResultCode::kRemoteError ? Cause::kPeer : Cause::kOwn;
}

void add_failures(Report& r, const std::vector<RankResult>& results, std::int64_t killed_at_ns) {
  r.killed = killed_at_ns != 0;
  std::optional<Cause> nearest;
  for (const RankResult& rank : results) {
    const bool victim = r.killed && rank.rank == r.bench_case.kill_rank;
    const bool failed = rank.result != nccl::ResultCode::kSuccess;
    Report::RankEnd end{rank.result, std::nullopt};
    if (r.killed && !victim && failed)
      end.time_to_error_ms =
          std::max(0.0, static_cast<double>(rank.error_at_ns - killed_at_ns) * 1e-6);
    r.rank_ends.push_back(end);
    // When a rank was killed, the others are expected to report an error.
    if (victim || (r.killed && failed)) continue;
    if (badness(rank.exit_code) > badness(r.exit_code)) r.exit_code = rank.exit_code;
    if (rank.error.empty()) continue;
    const Cause cause = cause_of(rank);
    if (nearest && cause >= *nearest) continue;
    nearest = cause;
    r.error = fmt::format("rank {}: {}", rank.rank, rank.error);
  }
}

// Adds what is missing within the loss budget; any other deviation from the exact sum is wrong
// data.
void add_losses(Report& r, const std::vector<RankResult>& results) {
  const bool licensed_ring = r.bench_case.loss_budget > 0 && r.bench_case.mode == Mode::kRing;
  const bool all_reduce = r.bench_case.mode == Mode::kAllReduce && r.bench_case.check;
  if (!licensed_ring && !all_reduce) return;
  const bool direct = all_reduce && r.bench_case.algorithm != Algorithm::kRing;
  const std::size_t size = r.bench_case.reduction.element_bytes();
  std::vector<std::vector<ReduceLoss>> by_rank;
  by_rank.reserve(results.size());
  for (const RankResult& rank : results)
    by_rank.push_back(rank.losses);
  r.losses =
      make_loss_report(by_rank, r.bench_case.size / size, direct, sums_by_switch(r.bench_case));
  if (!r.bench_case.check) return;
  r.wrong += Mismatch{r.losses->wrong_elements * size, r.losses->wrong_elements};
  if (!r.losses->ranks_identical) r.exit_code = ExitCode::kWrongData;
}

nlohmann::json losses_json(const Report& r) {
  const LossReport& losses = *r.losses;
  const auto counter = [&](const char* name) {
    const auto found = r.counters.find(name);
    return found == r.counters.end() ? nlohmann::json() : nlohmann::json(found->second);
  };
  return {{"loss_budget", r.bench_case.loss_budget},
          {"relative_mse", losses.relative_mse},
          {"delivered_share_min", losses.delivered_share_min},
          {"delivered_share", losses.delivered_share},
          {"ranks_identical", losses.ranks_identical},
          {"reduces", losses.reduces},
          {"lossy_reduces", losses.lossy_reduces},
          {"lost_bytes", counter("bytes_lost")},
          {"retransmitted_bytes", counter("bytes_retransmitted")}};
}

nlohmann::json all_reduces_json(const Report& r) {
  const BenchCase& c = r.bench_case;
  nlohmann::json connect_ms, switch_sums;
  if (r.connect_seconds > 0) connect_ms = r.connect_seconds * 1e3;
  if (r.switch_sums) switch_sums = *r.switch_sums;
  return {{"algo", name_of(c.algorithm)},  {"type", name_of(c.reduction.type)},
          {"op", name_of(c.reduction.op)}, {"connect_ms", connect_ms},
          {"switch_sums", switch_sums},    {"reduce_gb_per_s", r.reduce_gbyte_per_s}};
}

// Across machines there is no common clock, so the sender measures until its send is done.
const char* time_of(const BenchCase& c) {
  const char* const mode = traits_of(c.mode).time_of;
  return mode != nullptr ? mode : c.one_host ? "isend to received" : "isend to sent";
}

nlohmann::json cpu_json(const Report& r) {
  if (r.bytes == 0) return {{"user_s_per_gib", nullptr}, {"kernel_s_per_gib", nullptr}};
  return {{"user_s_per_gib", r.cpu_s_per_gib - r.kernel_s_per_gib},
          {"kernel_s_per_gib", r.kernel_s_per_gib}};
}

nlohmann::json turns_json(const Turns& turns) {
  nlohmann::json ratios = nlohmann::json::object();
  for (const auto& [key, of] : turns.ratios)
    ratios[key] = {{"low", of.low}, {"median", of.median}, {"high", of.high}};
  return {{"settings", turns.settings},
          {"turns", turns.values},
          {"ratios", ratios},
          {"others_cpu_share", turns.others_cpu_share}};
}

nlohmann::json in_us(std::int64_t ns, std::uint64_t samples) {
  if (samples == 0) return nullptr;
  return static_cast<double>(ns) * 1e-3;
}

}  // namespace

LossReport make_loss_report(const std::vector<std::vector<ReduceLoss>>& by_rank,
                            std::size_t elements, bool direct, bool rounds) {
  LossReport report;
  double error = 0;
  double exact = 0;
  double lost = 0;
  if (by_rank.empty()) return report;
  std::size_t reduces = by_rank[0].size();
  for (const auto& rank : by_rank)
    reduces = std::min(reduces, rank.size());
  report.reduces = reduces;
  const double contributions = static_cast<double>(elements) * static_cast<double>(by_rank.size());
  for (std::size_t i = 0; i < reduces; i++) {
    std::uint64_t missing = 0;
    std::uint64_t unequal = 0;
    std::uint64_t unexplained = 0;
    for (const auto& rank : by_rank) {
      missing += rank[i].lost;
      unequal += rank[i].unequal;
      unexplained += rank[i].unexplained;
      error += rank[i].squared_error;
      exact += rank[i].squared_exact;
      report.ranks_identical = report.ranks_identical && rank[i].hash == by_rank[0][i].hash;
    }
    if (direct) missing /= by_rank.size();
    report.wrong_elements += missing == 0 && !rounds ? unequal : unexplained;
    report.lossy_reduces += missing > 0 ? 1 : 0;
    const double share = 1 - static_cast<double>(missing) / contributions;
    report.delivered_share_min = std::min(report.delivered_share_min, share);
    lost += 1 - share;
  }
  if (exact > 0) report.relative_mse = error / exact;
  if (reduces > 0) report.delivered_share = 1 - lost / static_cast<double>(reduces);
  return report;
}

Report make_report(const BenchCase& bench_case, const std::vector<RankResult>& results,
                   std::int64_t killed_at_ns) {
  Report r;
  r.bench_case = bench_case;
  for (const RankResult& rank : results) {
    if (r.plugin_name.empty()) {
      r.plugin_name = rank.plugin_name;
      r.plugin_path = rank.plugin_path;
      r.abi = rank.abi;
    }
    r.wrong += rank.wrong;
    r.connect_seconds = std::max(r.connect_seconds, rank.connect_seconds);
    r.times.merge(rank.times);
    for (const auto& [name, value] : rank.counters)
      r.counters[name] += value;
  }
  add_losses(r, results);
  if (r.wrong.bytes > 0) r.exit_code = ExitCode::kWrongData;
  add_rates(r, results);
  add_failures(r, results, killed_at_ns);
  return r;
}

nlohmann::json Report::to_json() const {
  const std::uint64_t n = times.count();
  nlohmann::json burst, totals, ms, codes = nlohmann::json::array();
  const auto bursts = counters.find("bursts_sent");
  const auto packets = counters.find("packets_sent");
  if (packets != counters.end() && bursts != counters.end() && bursts->second > 0)
    burst = static_cast<double>(packets->second) / static_cast<double>(bursts->second);
  if (!counters.empty()) totals = counters;
  if (killed) ms = nlohmann::json::array();
  for (std::size_t i = 0; i < rank_ends.size(); i++) {
    const auto& [code, time] = rank_ends[i];
    const bool victim = killed && static_cast<int>(i) == bench_case.kill_rank;
    codes.push_back(victim ? nlohmann::json() : nlohmann::json(name_of(code)));
    if (killed) ms.push_back(time ? nlohmann::json(*time) : nlohmann::json());
  }
  nlohmann::json json = {
      {"mode", name_of(bench_case.mode)},
      {"ranks", bench_case.ranks},
      {"size", bench_case.size},
      {"inflight", bench_case.inflight},
      {"channels", bench_case.channels},
      {"layers", bench_case.layers},
      {"flags", name_of(bench_case.flags)},
      {"data", traits_of(bench_case.mode).makes_payload || bench_case.data != Data::kRandom
                   ? nlohmann::json(name_of(bench_case.data))
                   : nlohmann::json()},
      {"loss", bench_case.loss},
      {"seed", bench_case.seed},
      {"checked", bench_case.check},
      {"plugin", plugin_name},
      {"plugin_path", plugin_path},
      {"abi", abi},
      {"bus_gbps", bus_gbps},
      {"aggregate_gbps", aggregate_gbps},
      {"p50_us", in_us(times.percentile(0.5), n)},
      {"p99_us", in_us(times.percentile(0.99), n)},
      {"p999_us", in_us(times.percentile(0.999), n)},
      {"max_us", in_us(times.max(), n)},
      {"samples", n},
      {"time_of", time_of(bench_case)},
      {"cpu_s_per_gib", bytes > 0 ? nlohmann::json(cpu_s_per_gib) : nlohmann::json()},
      {"seconds", seconds},
      {"bytes", bytes},
      {"messages", messages},
      {"bytes_wrong", wrong.bytes},
      {"elements_wrong", wrong.elements},
      {"mean_burst", burst},
      {"counters", totals},
      {"time_to_error_ms", ms},
      {"result_codes", codes},
      {"error", error.empty() ? nlohmann::json() : nlohmann::json(error)}};
  const auto add = [&](const nlohmann::json& more) { json.update(more); };
  add(cpu_json(*this));
  if (bench_case.mode == Mode::kAllReduce) add(all_reduces_json(*this));
  if (losses) add(losses_json(*this));
  if (turns) add(turns_json(*turns));
  return json;
}

namespace {

// Microseconds, in at most 7 characters.
std::string short_us(std::int64_t ns, std::uint64_t samples) {
  if (samples == 0) return "-";
  const double us = static_cast<double>(ns) * 1e-3;
  if (us < 1000) return fmt::format("{:.1f}", us);
  if (us < 1e6) return fmt::format("{:.0f}", us);
  return fmt::format("{:.0f}k", us * 1e-3);
}

}  // namespace

std::string table_header() {
  return fmt::format("{:<9} {:>5} {:>6} {:>7} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6}", "mode", "ranks",
                     "size", "Gb/s", "p50 us", "p99 us", "p99.9", "max us", "s/GiB", "wrong");
}

std::string table_row(const Report& r) {
  const std::uint64_t n = r.times.count();
  const std::uint64_t wrong =
      traits_of(r.bench_case.mode).reduces ? r.wrong.elements : r.wrong.bytes;
  return fmt::format("{:<9} {:>5} {:>6} {:>7.2f} {:>8} {:>8} {:>8} {:>8} {:>6.2f} {:>6}",
                     name_of(r.bench_case.mode), r.bench_case.ranks, format_size(r.bench_case.size),
                     r.bus_gbps, short_us(r.times.percentile(0.5), n),
                     short_us(r.times.percentile(0.99), n), short_us(r.times.percentile(0.999), n),
                     short_us(r.times.max(), n), r.cpu_s_per_gib,
                     r.bench_case.check ? std::to_string(wrong) : "?");
}

}  // namespace dlcp::cli
