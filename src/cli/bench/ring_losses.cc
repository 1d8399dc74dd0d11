#include "cli/bench/ring_losses.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/bench/payload.h"

namespace dlcp::cli {

nlohmann::json ReduceLoss::to_json() const {
  return {lost, unequal, hash, squared_error, squared_exact, unexplained};
}

ReduceLoss ReduceLoss::from_json(const nlohmann::json& json) {
  return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4), json.at(5)};
}

std::uint64_t count_lost(const float* arrived, std::size_t count) {
  constexpr std::size_t kRunMin = 32;
  std::uint64_t lost = 0;
  // Every run of 32 contains one of these.
  for (std::size_t probe = kRunMin - 1; probe < count; probe += kRunMin) {
    if (arrived[probe] != 0) continue;
    std::size_t begin = probe;
    while (begin > 0 && arrived[begin - 1] == 0)
      --begin;
    std::size_t end = probe + 1;
    while (end < count && arrived[end] == 0)
      ++end;
    if (end - begin >= kRunMin) lost += end - begin;
    // On to the first probe behind the run.
    probe = (end + kRunMin) / kRunMin * kRunMin - 1 - kRunMin;
  }
  return lost;
}

unsigned loss_halvings(std::uint64_t seed, std::size_t element) {
  return static_cast<unsigned>(mix64(seed ^ (element / kLossBlock + 1)) % 8);
}

float loss_scale(std::uint64_t seed, std::size_t element) {
  return std::ldexp(1.0f, -static_cast<int>(loss_halvings(seed, element)));
}

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

}  // namespace dlcp::cli
