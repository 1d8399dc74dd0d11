// Checks across switches: see lint.h.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "switch/check/finding.h"
#include "switch/check/lint.h"

namespace dlcp::fabric {
namespace {

// With equal seeds on consecutive tiers every flow that uses the first of two links below also uses
// the first link above: half of the paths stay empty.
void check_hash_seeds(Findings& findings, const std::vector<SwitchPlan>& plans) {
  std::map<SwitchRole, std::set<unsigned>> seeds;
  std::set<SwitchRole> silent;
  for (const SwitchPlan& plan : plans)
    if (plan.hash_seed)
      seeds[plan.role].insert(*plan.hash_seed);
    else
      silent.insert(plan.role);
  struct Tiers {
    SwitchRole below, above;
  };
  constexpr Tiers kTiers[] = {{SwitchRole::kLeaf, SwitchRole::kSpine},
                              {SwitchRole::kSpine, SwitchRole::kSuperSpine}};
  for (const Tiers& tiers : kTiers) {
    const SwitchRole below = tiers.below;
    const SwitchRole above = tiers.above;
    const auto shared = std::find_if(seeds[below].begin(), seeds[below].end(),
                                     [&](unsigned seed) { return seeds[above].count(seed) != 0; });
    if (shared != seeds[below].end()) {
      findings.warning(
          "polarisation",
          fmt::format(
              "{} and {} switches have the same hash seed {}: part of the paths carries no traffic",
              name_of(below), name_of(above), *shared),
          "give each tier its own seed");
    }
    if (silent.count(below) != 0 && silent.count(above) != 0) {
      findings.note("polarisation",
                    fmt::format("hash seeds of {} and {} switches are not declared", name_of(below),
                                name_of(above)),
                    "with equal seeds on both tiers, part of the paths would carry no traffic");
    }
  }
}

std::string shedding_of(const SwitchPlan& plan) {
  std::string text;
  for (const QueuePlan& queue : plan.groups.front().queues) {
    const auto levels =
        std::count_if(queue.levels.begin(), queue.levels.end(),
                      [](const Level& level) { return level.drop_bytes.has_value(); });
    if (queue.strict || queue.name == "exact") continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", queue.name, levels);
  }
  return text;
}

void check_even_levels(Findings& findings, const std::vector<SwitchPlan>& plans) {
  std::map<std::string, std::pair<std::string, int>> kinds;
  for (const SwitchPlan& plan : plans) {
    if (plan.groups.empty()) continue;
    auto& kind = kinds[shedding_of(plan)];
    if (kind.second++ == 0) kind.first = plan.name;
  }
  if (kinds.size() < 2) return;
  std::string text;
  for (const auto& [levels, kind] : kinds) {
    text += fmt::format("{}{} switch{} like {} ({})", text.empty() ? "" : "; ", kind.second,
                        kind.second == 1 ? "" : "es", kind.first, levels);
  }
  findings.note("uneven-levels",
                "the number of early-drop levels per queue differs along paths: " + text,
                "this is no error; under load, the switch with the fewest levels decides which "
                "packets are dropped");
}

bool same_shares(const LevelShares& a, const LevelShares& b) {
  constexpr double kEqual = 0.001;
  const auto near = [](double x, double y) { return std::abs(x - y) < kEqual; };
  return near(a.bulk_droppable, b.bulk_droppable) && near(a.bulk_middle, b.bulk_middle) &&
         near(a.bulk_protected, b.bulk_protected) && near(a.urgent_droppable, b.urgent_droppable) &&
         near(a.urgent_protected, b.urgent_protected);
}

std::string shares_text(const LevelShares& shares) {
  return fmt::format("bulk {:g}/{:g}/{:g}, urgent {:g}/{:g}", 100 * shares.bulk_droppable,
                     100 * shares.bulk_middle, 100 * shares.bulk_protected,
                     100 * shares.urgent_droppable, 100 * shares.urgent_protected);
}

// Depths follow the shares of arriving packets: with other shares a level is too shallow or too
// deep.
void check_sent_shares(std::vector<Problem>& problems, const Intent& intent) {
  for (std::size_t i = 0; i <= intent.tenants.size(); ++i) {
    const DlcpIntent& dlcp = tenant_of(intent, i);
    if (same_shares(dlcp.level_shares, dlcp.sent_shares)) continue;
    Findings findings(intent.file, dlcp.shares_line, "");
    findings.warning(
        "level-shares",
        fmt::format("dlcp.level_shares states {} (droppable, middle, protected, in percent), but "
                    "{} send {}",
                    shares_text(dlcp.level_shares),
                    i == 0 ? "hosts" : "hosts of tenant '" + intent.tenants[i - 1].name + "'",
                    shares_text(dlcp.sent_shares)),
        "leave level_shares out: the plan then uses the shares that hosts send; with `bulk.levels "
        "= 3` in the class file, hosts send three levels of bulk");
    auto found = findings.take();
    std::move(found.begin(), found.end(), std::back_inserter(problems));
  }
}

}  // namespace

std::vector<Problem> lint_fabric(const Intent& intent, const std::vector<SwitchPlan>& plans) {
  Findings findings(intent.file, 0, "fabric: ");
  check_hash_seeds(findings, plans);
  check_even_levels(findings, plans);
  auto problems = findings.take();
  check_sent_shares(problems, intent);
  return problems;
}

}  // namespace dlcp::fabric
