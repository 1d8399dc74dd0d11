#include "switch/plan/features.h"

#include <fmt/core.h>

#include <algorithm>

#include "switch/capability/features.h"

namespace dlcp::fabric {
namespace {

// Collects problems, each at the switch's line of the intent.
class FeaturePlanner {
 public:
  FeaturePlanner(const Intent& intent, const SwitchIntent& device, SwitchPlan& plan)
      : intent_(intent), device_(device), plan_(plan) {}

  std::vector<Problem> run() {
    if (device_.features.load_balancing &&
        *device_.features.load_balancing != LoadBalancing::kHash) {
      const auto mode = *device_.features.load_balancing;
      if (find("load_balancing", mode == LoadBalancing::kPacket ? "packet" : "flowlet"))
        plan_.features.load_balancing = mode;
    }
    plan_watchdog();
    plan_trimming();
    plan_seed();
    plan_.features.remove_trimming = plan_removal("trimming", device_.features.remove_trimming);
    plan_.features.remove_pfc_watchdog =
        plan_removal("pfc_watchdog", device_.features.remove_pfc_watchdog);
    return std::move(problems_);
  }

 private:
  std::optional<FeatureRow> find(const std::string& feature, const std::string& mode = "") {
    auto found = find_feature({device_.os, device_.version, device_.asic, feature, mode});
    for (Problem& problem : found.problems) {
      const Problem located = problem_at(intent_, device_, std::move(problem.what));
      problem.file = located.file;
      problem.line = located.line;
      problem.what = located.what;
      problems_.push_back(std::move(problem));
    }
    return std::move(found.value);
  }

  void fail(std::string what, std::string seen, std::string expected, std::string hint) {
    Problem problem = problem_at(intent_, device_, std::move(what));
    problem.seen = std::move(seen);
    problem.expected = std::move(expected);
    problem.hint = std::move(hint);
    problems_.push_back(std::move(problem));
  }

  bool fits(const FeatureRow& row, const std::string& key, std::uint64_t value) {
    const bool in = row.max == 0 || (value >= row.min && value <= row.max);
    if (in && value % row.step == 0) return true;
    fail(fmt::format("{} is outside the range of {}", key, device_.os), std::to_string(value),
         row.min == row.max
             ? fmt::format("{}, the fixed value of this ASIC", row.min)
             : fmt::format("{} to {}{}", row.min, row.max,
                           row.step > 1 ? fmt::format(" in steps of {}", row.step) : ""),
         "`dlcp-switch targets --json` lists the ranges under `features`");
    return false;
  }

  void plan_watchdog() {
    if (!device_.features.pfc_watchdog) return;
    if (plan_.site->pfc_priorities == 0)
      return fail("pfc_watchdog without PFC", "no priority of the site has PFC",
                  "site.pfc_priorities, or a running configuration with PFC",
                  "leave pfc_watchdog out: DLCP's own queues have no PFC");
    const auto row = find("pfc_watchdog");
    if (row && fits(*row, "pfc_watchdog.detect", device_.features.pfc_watchdog->detect_ms))
      plan_.features.pfc_watchdog = device_.features.pfc_watchdog;
  }

  bool plan_removal(const std::string& feature, bool asked) {
    if (!asked) return false;
    const auto& rows = feature_rows();
    const bool has_rows = std::any_of(rows.begin(), rows.end(), [&](const FeatureRow& row) {
      return row.os == device_.os && row.feature == feature && row.own_rows;
    });
    if (!has_rows)
      fail(fmt::format("{} has no separate rows of {} that could be removed", device_.os, feature),
           "remove: " + feature, "a system that has separate rows for it: sonic",
           "leave it out: on this system the next render removes it with DLCP's own objects");
    return has_rows;
  }

  const QueuePlan* strict_queue() const {
    if (plan_.groups.empty()) return nullptr;
    const auto& queues = plan_.groups.front().queues;
    const auto found = std::find_if(queues.begin(), queues.end(),
                                    [](const QueuePlan& queue) { return queue.strict; });
    return found == queues.end() ? nullptr : &*found;
  }

  void plan_trimming() {
    if (!device_.features.trimming) return;
    const auto row = find("trimming");
    if (!row) return;
    const std::uint64_t size = device_.features.trimming->size_bytes;
    if (size != 0 && row->max == 0)
      return fail(fmt::format("{} has no setting for the size of trimmed packets", device_.os),
                  fmt::format("trimming.size {}", size), "trimming without a size",
                  "leave trimming.size out: the switch uses its own size");
    if (size != 0 && !fits(*row, "trimming.size", size)) return;
    TrimmingPlan trimming;
    trimming.size_bytes = size != 0 ? size : row->min;
    trimming.dscp = device_.features.trimming->dscp.value_or(
        intent_.dlcp.classes[static_cast<std::size_t>(TrafficClass::kControl)].dscp);
    const DscpRow& where = plan_.dscp[trimming.dscp];
    trimming.queue = row->queue >= 0 ? static_cast<std::uint8_t>(row->queue) : where.queue;
    const QueuePlan* const control = strict_queue();
    if (control == nullptr)
      return fail("trimming needs a strict queue of DLCP for trimmed packets",
                  "the control class shares a weighted queue here", "a free queue for control",
                  "allow more queues in site.may_take_queues, or leave trimming out");
    if (row->queue < 0 && (where.owner != Owner::kDlcp || where.queue != control->queue))
      return fail("trimming.dscp does not lead to DLCP's control queue",
                  fmt::format("DSCP {} leads to queue {}", trimming.dscp, where.queue),
                  fmt::format("a DSCP that leads to queue {}", control->queue),
                  "leave trimming.dscp out: the plan then uses the DSCP of the control class");
    plan_.features.trimming = trimming;
  }

  void plan_seed() {
    if (!device_.hash_seed) return;
    const auto found = find_feature({device_.os, device_.version, device_.asic, "hash_seed", ""});
    // A seed that the target cannot set is still compared between tiers; lint reports it.
    if (found.value && fits(*found.value, "hash_seed", *device_.hash_seed))
      plan_.features.hash_seed = device_.hash_seed;
  }

  const Intent& intent_;
  const SwitchIntent& device_;
  SwitchPlan& plan_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> plan_features(const Intent& intent, const SwitchIntent& device,
                                   SwitchPlan& plan) {
  return FeaturePlanner(intent, device, plan).run();
}

}  // namespace dlcp::fabric
