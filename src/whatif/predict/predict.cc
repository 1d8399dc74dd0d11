#include "whatif/predict/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace dlcp::whatif {
namespace {

// Where DLCP_COMPRESS=auto stops to compress, about: see docs/compression.md.
constexpr double kCodingBits = 15e9;
constexpr double kLow = 0.1, kHigh = 0.9;  // quantiles of an estimate's range

// The new duration of a transfer, with a given cost of the network as it is.
using Changed = std::function<double(const Transfer&, const Cost&)>;

Estimate estimate_of(const std::vector<double>& seconds) {
  return {median_of(seconds), quantile_of(seconds, kLow), quantile_of(seconds, kHigh)};
}

class Predictor {
 public:
  explicit Predictor(const Shares& shares)
      : shares_(shares), times_(shape_times(shares)), cost_(fit_cost(shares.shapes, times_)) {}

  const Cost& cost() const { return cost_; }
  double median(const Transfer& transfer) const { return times_[transfer.shape].median; }
  const Shape& shape(const Transfer& transfer) const { return shares_.shapes[transfer.shape]; }

  // Predicts each step with changed transfers. The network time of a step, which is the part of its
  // transfers that other transfers do not overlap, changes by the same factor as their sum.
  Estimate changed(const Changed& change, bool depends_on_cost) const {
    Estimate all = estimate_of(steps_with(change, cost_));
    if (!depends_on_cost) return all;
    const double uncertain = std::abs(all.seconds - now().seconds) * std::min(1.0, cost_.error);
    all.low -= uncertain;
    all.high += uncertain;
    if (cost_.assumed)
      for (const double latency : {cost_.latency_low, cost_.latency_high}) {
        const Estimate other = estimate_of(steps_with(change, cost_.with_latency(latency)));
        all.low = std::min(all.low, other.low);
        all.high = std::max(all.high, other.high);
      }
    all.low = std::max(0.0, all.low);
    return all;
  }

  Estimate now() const {
    return estimate_of(steps_with([](const Transfer& t, const Cost&) { return t.seconds; }, cost_));
  }

  // All ranks compute as long as the median rank; steps are counted from the last one.
  Estimate even_ranks() const {
    std::size_t steps = 0;
    for (const RankShares& rank : shares_.ranks)
      steps = std::max(steps, rank.steps.size());
    std::vector<double> seconds;
    for (std::size_t back = 1; back <= steps; back++) {
      std::vector<double> compute, network;
      for (const RankShares& rank : shares_.ranks) {
        if (rank.steps.size() < back) continue;
        const StepShare& step = rank.steps[rank.steps.size() - back];
        compute.push_back(step.compute);
        network.push_back(step.network);
      }
      seconds.push_back(median_of(std::move(compute)) + median_of(std::move(network)));
    }
    return estimate_of(seconds);
  }

 private:
  std::vector<double> steps_with(const Changed& change, const Cost& cost) const {
    std::vector<double> seconds;
    for (const RankShares& rank : shares_.ranks)
      for (const StepShare& step : rank.steps) {
        double before = 0, after = 0;
        for (const Transfer& transfer : step.transfers) {
          before += transfer.seconds;
          after += change(transfer, cost);
        }
        const double factor = before > 0 ? after / before : 1;
        seconds.push_back(step.compute + step.waiting + step.network * factor);
      }
    return seconds;
  }

  const Shares& shares_;
  std::vector<ShapeTime> times_;
  Cost cost_;
};

std::vector<TypeRatio> ratios_of(std::span<const Run> runs) {
  std::map<std::string, std::pair<double, std::uint64_t>> sums;  // bytes after, per byte before
  std::uint64_t before = 0, after = 0;
  for (const Run& run : runs) {
    before += run.compressed_bytes;
    after += run.compressed_wire_bytes;
    for (const BufferSample& sample : run.samples) {
      auto& [sum, samples] = sums[sample.type];
      sum += static_cast<double>(sample.samples) / sample.ratio;
      samples += sample.samples;
    }
  }
  std::vector<TypeRatio> ratios;
  for (const auto& [type, sum] : sums)
    if (sum.second > 0)
      ratios.push_back({type, static_cast<double>(sum.second) / sum.first, sum.second});
  if (ratios.empty() && after > 0)
    ratios.push_back({"", static_cast<double>(before) / static_cast<double>(after), 0});
  return ratios;
}

double ratio_for(const std::vector<TypeRatio>& ratios, const std::string& type) {
  for (const TypeRatio& one : ratios)
    if (one.type.empty() || one.type == type) return std::max(1.0, one.ratio);
  return 1;
}

std::string rate_text(double bits) {
  return bits >= 1e9 ? fmt::format("{:.4g} Gbit/s", bits / 1e9)
                     : fmt::format("{:.4g} Mbit/s", bits / 1e6);
}

Prediction at_rate(const Predictor& predictor, double bits) {
  Prediction p{
      Change::kRate,
      "at " + rate_text(bits),
      fmt::format("Ranks fill {:.0f}% of the link with payload, and the latency of a round "
                  "stays as it is.",
                  100 * kPayloadShare),
      "",
      true,
      bits,
      {}};
  p.estimate = predictor.changed(
      [&](const Transfer& t, const Cost& cost) {
        const double share = cost.bytes_share(predictor.shape(t));
        const double factor = cost.per_byte > 0 ? 8 / (kPayloadShare * bits) / cost.per_byte : 1;
        return t.seconds * (1 - share + share * factor);
      },
      true);
  return p;
}

Prediction infinite(const Predictor& predictor) {
  Prediction p{Change::kInfinite,
               "infinitely fast network",
               "Transfers take no time and nothing was computed beside them; no network and no "
               "setting gains more.",
               "",
               true,
               0,
               {}};
  p.estimate = predictor.changed([](const Transfer&, const Cost&) { return 0.0; }, false);
  return p;
}

Prediction compressed(const Predictor& predictor, const std::vector<TypeRatio>& ratios,
                      std::span<const Run> runs) {
  Prediction p{Change::kCompression, "with compression", "", "DLCP_COMPRESS=on", true, 0, {}};
  if (ratios.empty()) {
    p.known = false;
    p.assumption =
        "No ratio is known: " + (runs.empty() || runs[0].buffers.empty() ? "no buffer was sampled."
                                                                         : runs[0].buffers + ".");
    return p;
  }
  if (predictor.cost().per_byte > 0 && 8 / predictor.cost().per_byte > kCodingBits) {
    p.known = false;
    p.assumption = fmt::format(
        "The network carries more than {:.0f} Gbit/s of payload per rank, which is faster than "
        "processors code.",
        kCodingBits / 1e9);
    return p;
  }
  for (const TypeRatio& one : ratios)
    p.assumption += fmt::format(
        "{}{} shrinks to 1/{:.2f}", p.assumption.empty() ? "" : ", ",
        one.type.empty() ? std::string("what DLCP's connections carried") : one.type, one.ratio);
  p.assumption[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(p.assumption[0])));
  p.assumption += "; processors code faster than the network sends, as they do below 15 Gbit/s.";
  p.estimate = predictor.changed(
      [&](const Transfer& t, const Cost& cost) {
        const double share = cost.bytes_share(predictor.shape(t));
        return t.seconds * (1 - share + share / ratio_for(ratios, predictor.shape(t).type));
      },
      true);
  return p;
}

Prediction direct(const Predictor& predictor) {
  Prediction p{
      Change::kDirect,
      "with direct exchange",
      "All-reduces send as many bytes in 2 rounds instead of 2(n-1), and hosts add as fast "
      "as GPUs.",
      "NCCL_COLLNET_ENABLE=1",
      true,
      0,
      {}};
  p.estimate = predictor.changed(
      [&](const Transfer& t, const Cost& cost) {
        const Shape& shape = predictor.shape(t);
        if (shape.function != "AllReduce" || shape.rounds() <= 2) return t.seconds;
        const double latency = 1 - cost.bytes_share(shape);
        return t.seconds * (1 - latency + latency * 2 / shape.rounds());
      },
      true);
  return p;
}

Prediction without_tail(const Predictor& predictor) {
  Prediction p{Change::kTail,
               "without the tail",
               "No collective takes longer than the median of its kind and size.",
               "NCCL_NET=DLCP, in case loss or busy paths cause the tail",
               true,
               0,
               {}};
  p.estimate = predictor.changed(
      [&](const Transfer& t, const Cost&) { return std::min(t.seconds, predictor.median(t)); },
      false);
  return p;
}

Prediction even(const Predictor& predictor, std::size_t ranks) {
  Prediction p{Change::kEvenRanks,
               "without stragglers",
               "Every rank computes as long as the median rank; this is no matter of the network.",
               "",
               ranks > 1,
               0,
               {}};
  if (!p.known) {
    p.assumption = "Needs the files of several ranks.";
    return p;
  }
  p.estimate = predictor.even_ranks();
  return p;
}

void summarise(const Shares& shares, Answer& answer) {
  double compute = 0, waiting = 0, network = 0;
  answer.steps = shares.ranks.empty() ? 0 : shares.ranks[0].steps.size();
  for (const RankShares& rank : shares.ranks) {
    RankSummary summary;
    summary.rank = rank.rank;
    summary.steps = rank.steps.size();
    summary.blocked = rank.blocked;
    summary.concurrent = rank.concurrent;
    std::vector<double> all[4];
    for (const StepShare& step : rank.steps) {
      const double parts[] = {step.seconds(), step.compute, step.waiting, step.network};
      for (std::size_t i = 0; i < 4; i++)
        all[i].push_back(parts[i]);
      compute += step.compute;
      waiting += step.waiting;
      network += step.network;
    }
    summary.step = median_of(all[0]);
    summary.compute = median_of(all[1]);
    summary.waiting = median_of(all[2]);
    summary.network = median_of(all[3]);
    answer.steps = std::min(answer.steps, rank.steps.size());
    answer.ranks.push_back(summary);
  }
  const double sum = compute + waiting + network;
  if (sum <= 0) return;
  answer.compute = compute / sum;
  answer.waiting = waiting / sum;
  answer.network = network / sum;
}

void note_limits(std::span<const Run> runs, const Shares& shares, Answer& answer) {
  std::set<std::int32_t> ranks;
  bool proxy = false, overwritten = false;
  double concurrent = 0;
  for (const Run& run : runs) {
    ranks.insert(run.rank);
    proxy |= run.starts == "proxy";
    overwritten |= run.collectives > run.records.size();
  }
  for (const RankShares& rank : shares.ranks)
    concurrent = std::max(concurrent, rank.concurrent);
  if (answer.collectives == 0)
    answer.notes.push_back(
        "No sequence of collectives repeats, so the whole recording counts as one step and there "
        "is "
        "no error range.");
  if (runs.size() < answer.ranks_of_job)
    answer.notes.push_back(fmt::format(
        "Files of {} of {} ranks: what looks like network may be waiting for a rank whose file is "
        "missing.",
        runs.size(), answer.ranks_of_job));
  if (proxy)
    answer.notes.push_back(
        "NCCL reported no kernel events, so a collective begins with NCCL's proxy, which may be "
        "before the GPU has its data.");
  if (concurrent > 0.05)
    answer.notes.push_back(
        fmt::format("Collectives overlapped during {:.0f}% of their time; they share the network.",
                    100 * concurrent));
  if (answer.cost.assumed)
    answer.notes.push_back(fmt::format(
        "The sizes hardly differ, so latency cannot be told from bandwidth: {:.0f} us a round are "
        "assumed, and the ranges cover {:.0f} to {:.0f} us.",
        answer.cost.latency * 1e6, answer.cost.latency_low * 1e6, answer.cost.latency_high * 1e6));
  if (overwritten) answer.notes.push_back("Only the newest collectives are in the files.");
}

}  // namespace

Answer answer(std::span<const Run> runs, std::span<const double> rates) {
  const Shares shares = measure_shares(runs);
  const Predictor predictor(shares);
  Answer answer;
  answer.cost = predictor.cost();
  for (const RankShares& rank : shares.ranks)
    if (rank.collectives > 0 && (answer.collectives == 0 || rank.agreement < answer.agreement)) {
      answer.collectives = rank.collectives;
      answer.agreement = rank.agreement;
    }
  for (const Run& run : runs)
    answer.ranks_of_job = std::max(answer.ranks_of_job, run.ranks);
  answer.ratios = ratios_of(runs);
  answer.payload_bits = answer.cost.per_byte > 0 ? 8 / answer.cost.per_byte : 0;
  summarise(shares, answer);
  answer.now = predictor.now();
  answer.predictions.push_back(infinite(predictor));
  for (const double rate : rates)
    answer.predictions.push_back(at_rate(predictor, rate));
  answer.predictions.push_back(compressed(predictor, answer.ratios, runs));
  answer.predictions.push_back(direct(predictor));
  answer.predictions.push_back(without_tail(predictor));
  answer.predictions.push_back(even(predictor, runs.size()));
  note_limits(runs, shares, answer);
  answer.verdict = verdict_of(answer);
  return answer;
}

}  // namespace dlcp::whatif
