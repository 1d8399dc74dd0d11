// The one sentence at the end: whether the network is worth an effort, and what to try.
#include <fmt/format.h>

#include "whatif/predict/predict.h"

namespace dlcp::whatif {
namespace {

constexpr double kWorthIt = 0.05;     // shares of a step: below this the network is not worth work
constexpr double kSettingMin = 0.02;  // and below this a setting is not worth a try

double gain(const Answer& answer, const Prediction& prediction) {
  return answer.now.seconds > 0 ? 1 - prediction.estimate.seconds / answer.now.seconds : 0;
}

const Prediction* find(const Answer& answer, Change change) {
  for (const Prediction& one : answer.predictions)
    if (one.change == change && one.known) return &one;
  return nullptr;
}

// The rank that the others wait for.
std::string latest(const Answer& answer) {
  const RankSummary* late = nullptr;
  for (const RankSummary& rank : answer.ranks)
    if (late == nullptr || rank.waiting < late->waiting) late = &rank;
  return late == nullptr || late->rank < 0 ? "the slowest rank"
                                           : fmt::format("rank {}", late->rank);
}

// The slowest rate that reaches most of the bound, if it gains enough.
const Prediction* enough_rate(const Answer& answer, double bound) {
  for (const Prediction& one : answer.predictions)
    if (one.change == Change::kRate && gain(answer, one) >= 0.8 * bound) return &one;
  return nullptr;
}

}  // namespace

std::string verdict_of(const Answer& answer) {
  if (answer.now.seconds <= 0) return "No collective was recorded, so nothing can be said.";
  const Prediction* bound = find(answer, Change::kInfinite);
  const double most = bound != nullptr ? gain(answer, *bound) : 0;
  const bool stragglers = answer.waiting > kWorthIt;
  if (stragglers && most < kWorthIt)
    return fmt::format(
        "Not worth it: ranks wait for {} during {:.0f}% of a step, and an infinitely fast network "
        "would gain {:.1f}%.",
        latest(answer), 100 * answer.waiting, 100 * most);
  if (most < kWorthIt)
    return fmt::format(
        "Not worth it: even an infinitely fast network would shorten a step by {:.1f}% at most.",
        100 * most);
  const std::string first =
      stragglers
          ? fmt::format("first find out why ranks wait for {} during {:.0f}% of a step; then ",
                        latest(answer), 100 * answer.waiting)
          : "";
  const Prediction* best = nullptr;
  for (const Prediction& one : answer.predictions)
    if (!one.setting.empty() && one.known &&
        (best == nullptr || one.estimate.seconds < best->estimate.seconds))
      best = &one;
  if (best != nullptr && gain(answer, *best) >= kSettingMin)
    return fmt::format(
        "Worth it, {}try {}: a step {} should be {:.0f}% shorter, of at most {:.0f}% on any "
        "network.",
        first, best->setting, best->name, 100 * gain(answer, *best), 100 * most);
  if (const Prediction* rate = enough_rate(answer, most))
    return fmt::format(
        "Worth it, {}but only with a faster network: a step {} would be {:.0f}% shorter, of at "
        "most {:.0f}%; no setting here gains {:.0f}%.",
        first, rate->name, 100 * gain(answer, *rate), 100 * most, 100 * kSettingMin);
  return fmt::format(
      "Worth it, {}but by fewer or larger collectives: an infinitely fast network would gain "
      "{:.0f}%, most of it latency that neither a faster link nor a setting here removes.",
      first, 100 * most);
}

}  // namespace dlcp::whatif
