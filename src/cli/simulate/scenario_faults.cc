#include "cli/simulate/scenario_faults.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/simulate/scenario_keys.h"

namespace dlcp::cli {

using namespace simulate;
using synth::only_keys;
using synth::refuse;
using synth::text_of;

namespace {

// Links of a tier, in one direction.
std::size_t links_of(const FabricPlan& plan, Fabric::Tier tier) {
  const bool leaf = tier == Fabric::Tier::kLeafUp || tier == Fabric::Tier::kLeafDown;
  return leaf ? plan.leaves() * plan.spines_per_pod
              : plan.pods * plan.spines_per_pod * plan.cores_per_spine;
}

}  // namespace

CableFault fault_of(const YAML::Node& map, const FabricPlan& plan) {
  only_keys(map, {"link", "first", "count", "after", "lasts", "every", "rate", "loss", "both_ways",
                  "noticed_after"});
  CableFault fault;
  const YAML::Node link = wanted(map, "link", "give leaf-up, leaf-down, spine-up or spine-down");
  const std::string tier = text_of(link, "link");
  const std::pair<const char*, Fabric::Tier> tiers[] = {{"leaf-up", Fabric::Tier::kLeafUp},
                                                        {"leaf-down", Fabric::Tier::kLeafDown},
                                                        {"spine-up", Fabric::Tier::kSpineUp},
                                                        {"spine-down", Fabric::Tier::kSpineDown}};
  bool known = false;
  for (const auto& [name, value] : tiers) {
    if (tier == name) fault.tier = value;
    known = known || tier == name;
  }
  if (!known)
    refuse(link, fmt::format("link is '{}'", tier),
           "give leaf-up, leaf-down, spine-up or spine-down");
  fault.first = static_cast<std::size_t>(count_or(map, "first", 0, 0, 1 << 20));
  fault.count = static_cast<std::size_t>(count_or(map, "count", 1, 1, 4096));
  const std::size_t links = links_of(plan, fault.tier);
  if (fault.first + fault.count > links)
    refuse(link,
           fmt::format("the fault affects {} links {} to {}", tier, fault.first,
                       fault.first + fault.count - 1),
           links == 0 ? "this fabric has no such links"
                      : fmt::format("this fabric has {} of them, 0 to {}", links, links - 1));
  if (map["after"]) fault.after = time_of(map["after"], "after");
  if (map["lasts"]) fault.lasts = time_of(map["lasts"], "lasts");
  if (map["every"]) {
    fault.every = time_of(map["every"], "every");
    if (fault.lasts == Duration::zero() || fault.every <= fault.lasts)
      refuse(map["every"],
             fmt::format("the fault repeats every {} and lasts {}", map["every"].Scalar(),
                         map["lasts"] ? map["lasts"].Scalar() : "forever"),
             "give 'lasts', with a value below that of 'every'");
  }
  if (map["rate"]) fault.rate = share_of(map["rate"], "rate", 1);
  if (map["loss"]) fault.loss = share_of(map["loss"], "loss", 1);
  if (map["both_ways"]) fault.both_ways = synth::flag_of(map["both_ways"], "both_ways");
  if (map["noticed_after"]) fault.reconverges = time_of(map["noticed_after"], "noticed_after");
  return fault;
}

PauseStorm storm_of(const YAML::Node& map, const FabricPlan& plan) {
  only_keys(map, {"host", "after", "lasts"});
  PauseStorm storm;
  const int last = static_cast<int>(plan.hosts()) - 1;
  storm.host = static_cast<HostIndex>(count_or(map, "host", 0, 0, last));
  if (map["after"]) storm.after = time_of(map["after"], "after");
  storm.lasts = time_of(wanted(map, "lasts", "give the duration, for example 10ms"), "lasts");
  return storm;
}

}  // namespace dlcp::cli
