#include "order/measure/measurements.h"

#include <algorithm>

namespace dlcp::order {
namespace {

constexpr double kHopUs = 1e7;  // more than any RTT

}  // namespace

void Measurements::add(Pair pair, const Measurement& measurement) {
  if (pair.from == pair.to) return;
  const auto [at, first] = pairs_.emplace(key(pair.from, pair.to), measurement);
  Measurement& kept = at->second;
  const bool heard_before = !first && kept.answered;
  for (const int host : {pair.from, pair.to}) {
    if (first) ++asked_[static_cast<std::size_t>(host)];
    if (measurement.answered && !heard_before) ++heard_[static_cast<std::size_t>(host)];
  }
  if (!measurement.answered) return;
  hops_known_ = hops_known_ && measurement.hops >= 0;
  if (!heard_before || measurement.round_trip_us < kept.round_trip_us) kept = measurement;
}

std::optional<double> Measurements::round_trip_us(int a, int b) const {
  if (a == b) return 0;
  const auto found = pairs_.find(key(a, b));
  if (found == pairs_.end() || !found->second.answered) return std::nullopt;
  return found->second.round_trip_us;
}

std::optional<double> Measurements::distance(int a, int b) const {
  if (a == b) return 0;
  const auto found = pairs_.find(key(a, b));
  if (found == pairs_.end() || !found->second.answered) return std::nullopt;
  const Measurement& m = found->second;
  return m.round_trip_us + (hops_known_ ? m.hops * kHopUs : 0);
}

std::vector<std::pair<Pair, double>> Measurements::round_trips() const {
  std::vector<std::pair<Pair, double>> all;
  for (const auto& [pair, m] : pairs_) {
    if (m.answered)
      all.push_back(
          {{static_cast<int>(pair >> 32), static_cast<int>(pair & 0xffffffff)}, m.round_trip_us});
  }
  std::ranges::sort(all);
  return all;
}

bool Measurements::silent(int host) const {
  const auto at = static_cast<std::size_t>(host);
  return heard_[at] == 0 && asked_[at] >= std::clamp(hosts() - 1, 1, 2);
}

}  // namespace dlcp::order
