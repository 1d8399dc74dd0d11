#include "switch/plan/features.h"

#include <fmt/core.h>

#include <algorithm>

#include "switch/capability/features.h"

namespace dlcp::fabric {
namespace {

// Collects problems, each at the switch's line of the intent.
class Settler {
 public:
  Settler(const Intent& intent, const SwitchIntent& device, SwitchPlan& plan)
      : intent_(intent), device_(device), plan_(plan) {}

  std::vector<Problem> run() {
    if (device_.features.load_balancing &&
        *device_.features.load_balancing != LoadBalancing::kHash) {
      const auto mode = *device_.features.load_balancing;
      if (find("load_balancing", mode == LoadBalancing::kPacket ? "packet" : "flowlet"))
        plan_.features.load_balancing = mode;
    }
    settle_watchdog();
    settle_trimming();
    settle_seed();
    plan_.features.remove_trimming = settle_removal("trimming", device_.features.remove_trimming);
    plan_.features.remove_pfc_watchdog =
        settle_removal("pfc_watchdog", device_.features.remove_pfc_watchdog);
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
    fail(fmt::format("{} is out of {}'s range", key, device_.os), std::to_string(value),
         row.min == row.max
             ? fmt::format("{}, which this ASIC has fixed", row.min)
             : fmt::format("{} to {}{}", row.min, row.max,
                           row.step > 1 ? fmt::format(" in steps of {}", row.step) : ""),
         "see `dlcp-switch targets --json`, features");
    return false;
  }

  void settle_watchdog() {
    if (!device_.features.pfc_watchdog) return;
    if (plan_.site->pfc_priorities == 0)
      return fail("pfc_watchdog without PFC", "no priority of the site has PFC",
                  "site.pfc_priorities, or a running configuration with PFC",
                  "leave pfc_watchdog out: DLCP's own queues never have PFC");
    const auto row = find("pfc_watchdog");
    if (row && fits(*row, "pfc_watchdog.detect", device_.features.pfc_watchdog->detect_ms))
      plan_.features.pfc_watchdog = device_.features.pfc_watchdog;
  }

  bool settle_removal(const std::string& feature, bool asked) {
    if (!asked) return false;
    const auto& rows = feature_rows();
    const bool has_rows = std::any_of(rows.begin(), rows.end(), [&](const FeatureRow& row) {
      return row.os == device_.os && row.feature == feature && row.own_rows;
    });
    if (!has_rows)
      fail(fmt::format("{} has no rows of {} to remove", device_.os, feature), "remove: " + feature,
           "a system that keeps it in rows of their own: sonic",
           "leave it out: here it goes with DLCP's own objects at the next render");
    return has_rows;
  }

  const QueuePlan* strict_queue() const {
    if (plan_.groups.empty()) return nullptr;
    const auto& queues = plan_.groups.front().queues;
    const auto found = std::find_if(queues.begin(), queues.end(),
                                    [](const QueuePlan& queue) { return queue.strict; });
    return found == queues.end() ? nullptr : &*found;
  }

  void settle_trimming() {
    if (!device_.features.trimming) return;
    const auto row = find("trimming");
    if (!row) return;
    const std::uint64_t size = device_.features.trimming->size_bytes;
    if (size != 0 && row->max == 0)
      return fail(fmt::format("{} has no size for trimmed packets", device_.os),
                  fmt::format("trimming.size {}", size), "trimming without a size",
                  "leave trimming.size out: the switch has one of its own");
    if (size != 0 && !fits(*row, "trimming.size", size)) return;
    TrimmingPlan trimming;
    trimming.size_bytes = size != 0 ? size : row->min;
    trimming.dscp = device_.features.trimming->dscp.value_or(
        intent_.dlcp.classes[static_cast<std::size_t>(TrafficClass::kControl)].dscp);
    const DscpRow& where = plan_.dscp[trimming.dscp];
    trimming.queue = row->queue >= 0 ? static_cast<std::uint8_t>(row->queue) : where.queue;
    const QueuePlan* const control = strict_queue();
    if (control == nullptr)
      return fail("trimming needs a strict queue of DLCP's for what is left of packets",
                  "the control class shares a weighted queue here", "a free queue for control",
                  "give queues up with site.may_take_queues, or leave trimming out");
    if (row->queue < 0 && (where.owner != Owner::kDlcp || where.queue != control->queue))
      return fail("trimming.dscp leads out of DLCP's control queue",
                  fmt::format("DSCP {} leads to queue {}", trimming.dscp, where.queue),
                  fmt::format("a DSCP that leads to queue {}", control->queue),
                  "leave trimming.dscp out: it is then that of the control class");
    plan_.features.trimming = trimming;
  }

  void settle_seed() {
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

std::vector<Problem> settle_features(const Intent& intent, const SwitchIntent& device,
                                     SwitchPlan& plan) {
  return Settler(intent, device, plan).run();
}

}  // namespace dlcp::fabric
