#include "contest.h"

#include <algorithm>
#include <memory>

#include "dlcp_flow.h"
#include "yardstick.h"

namespace dlcp::test {
namespace {

// The share of payload in the bytes of one DLCP packet on the link.
constexpr double kPayloadShare = 1408.0 / (1408 + 40 + 66);

std::unique_ptr<PathFlow> make_flow(SharedPath& path, Contender kind, const ContestConfig& config,
                                    std::uint64_t seed) {
  switch (kind) {
    case Contender::kCubic:
      return std::make_unique<TcpFlow>(path, std::make_unique<CubicModel>());
    case Contender::kBbr:
      return std::make_unique<TcpFlow>(path, std::make_unique<BbrModel>());
    case Contender::kDlcp:
      break;
  }
  core::Config core;
  core.receive_capacity_bytes = std::size_t{256} << 20;  // credit must not limit here
  return std::make_unique<DlcpFlow>(path, core, seed, config.placed);
}

}  // namespace

double jain(const std::vector<double>& shares) {
  double sum = 0;
  double squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return squares == 0 ? 0 : sum * sum / squares / static_cast<double>(shares.size());
}

double ContestResult::fairness_between(double from, double until) const {
  std::vector<double> shares;
  for (const auto& flow : bins) {
    double bytes = 0;
    for (std::size_t i = 0; i < flow.size(); ++i) {
      const double begins = static_cast<double>(i) * bin_seconds;
      const double overlap = std::min(begins + bin_seconds, until) - std::max(begins, from);
      bytes += flow[i] * std::max(0.0, overlap) / bin_seconds;
    }
    shares.push_back(bytes);
  }
  return jain(shares);
}

namespace {

// Start times of the DLCP flows: staggered, or all within one round trip; rivals start first.
std::vector<Time> starts_of(const ContestConfig& config, Rng& rng, double round, double length) {
  std::vector<Time> starts;
  for (int i = 0; i < config.flows; ++i) {
    const double own = config.stagger > Duration::zero()
                           ? static_cast<double>(config.stagger.count()) * i
                           : rng.unit() * round * 1e9;
    const double wait = config.rivals > 0 ? length * 0.1 * 1e9 : 0;
    starts.push_back(time_from_ns(static_cast<std::int64_t>(own + wait)));
  }
  return starts;
}

// Runs until `ends` and starts the flows whose time has come.
void run_until(SharedPath& path, Time ends, const std::vector<Time>& starts,
               std::vector<std::unique_ptr<PathFlow>>& flows) {
  for (;;) {
    std::size_t next = starts.size();
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const bool due = starts[i] > path.now() && starts[i] <= ends;
      if (due && (next == starts.size() || starts[i] < starts[next])) next = i;
    }
    if (next == starts.size()) break;
    path.run_until(starts[next]);
    flows[next]->start();
  }
  path.run_until(ends);
}

void fill_shares(ContestResult& result, const std::vector<double>& bytes, std::size_t ours,
                 double link_bits) {
  std::vector<double> shares;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double used = bytes[i] * 8 / link_bits;
    (i < ours ? result.used : result.used_by_rivals) += used;
    if (i < ours) shares.push_back(used);
  }
  result.fairness = jain(shares);
}

}  // namespace

ContestResult run_contest(const ContestConfig& config) {
  SharedPath path(config.path);
  std::vector<std::unique_ptr<PathFlow>> flows;
  for (int i = 0; i < config.flows + config.rivals; ++i) {
    flows.push_back(make_flow(path, i < config.flows ? config.kind : config.rival, config,
                              config.path.seed * 1000 + static_cast<std::uint64_t>(i) * 2));
  }
  const auto ours = static_cast<std::size_t>(config.flows);
  const double round =
      static_cast<double>((config.path.base + config.path.jitter / 2).count()) * 1e-9;
  const double length = round * config.rounds;
  const auto starts = starts_of(config, path.rng(), round, length);
  for (std::size_t i = ours; i < flows.size(); ++i)
    flows[i]->start();

  ContestResult result;
  result.bin_seconds = length / config.bins;
  result.bins.resize(ours);
  std::vector<double> before(flows.size());
  std::vector<double> half_time(flows.size());
  for (int bin = 0; bin < config.bins; ++bin) {
    if (bin == config.bins / 2) {
      path.reset();
      for (std::size_t i = 0; i < flows.size(); ++i)
        half_time[i] = flows[i]->delivered_bytes();
    }
    const double ends = (bin + 1) * result.bin_seconds * 1e9;
    run_until(path, time_from_ns(static_cast<std::int64_t>(ends)), starts, flows);
    for (std::size_t i = 0; i < ours; ++i) {
      const double now = flows[i]->delivered_bytes();
      result.bins[i].push_back(now - before[i]);
      before[i] = now;
    }
  }
  std::vector<double> bytes;
  for (std::size_t i = 0; i < flows.size(); ++i)
    bytes.push_back(flows[i]->delivered_bytes() - half_time[i]);
  fill_shares(result, bytes, ours, path.rate() * kPayloadShare * length / 2);
  const SharedPath::Totals& totals = path.totals();
  result.queue_mean = totals.mean();
  result.queue_max = totals.delay_max;
  const auto frames = static_cast<double>(std::max<std::uint64_t>(totals.frames, 1));
  result.dropped = static_cast<double>(totals.dropped) / frames;
  result.round_trip = round + result.queue_mean;
  return result;
}

}  // namespace dlcp::test
