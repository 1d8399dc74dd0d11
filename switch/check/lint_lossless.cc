// Checks of requirements of the site's lossless classes next to DLCP: headroom for the cables, and
// a watchdog against pause storms.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "switch/check/finding.h"
#include "switch/plan/buffer/headroom.h"
#include "switch/plan/units.h"

namespace dlcp::fabric {
namespace {

// The longer cable counts, of the intent's and the switch's configuration.
void check_cables(Findings& findings, const SwitchPlan& plan, const PortGroupPlan& each) {
  const PortGroup& group = each.group;
  if (group.cable_metres == 0) return;
  for (const std::string& name : group.ports) {
    const SitePort* const port = find_port(*plan.site, name);
    if (port == nullptr || port->cable_metres == 0) continue;
    if (port->cable_metres < group.cable_metres) {
      findings.error("cable-length",
                     fmt::format("{} states a shorter cable at {}", plan.site->source, name),
                     fmt::format("{}m", port->cable_metres),
                     fmt::format("{}m, as in the intent", group.cable_metres),
                     "correct CABLE_LENGTH first, because the headroom depends on it", group.line);
      return;
    }
  }
  for (const std::string& name : group.ports) {
    const SitePort* const port = find_port(*plan.site, name);
    if (port == nullptr || port->headroom_bytes == 0 || port->headroom_bytes >= each.headroom_bytes)
      continue;
    findings.warning(
        "headroom",
        fmt::format("{} has {} of headroom for a lossless priority; a cable of {} m at {} needs at "
                    "least {}",
                    name, bytes_text(port->headroom_bytes), group.cable_metres,
                    rate_text(group.bits_per_second), bytes_text(each.headroom_bytes)),
        "raise xoff of the site's profile; otherwise its lossless class drops packets under load",
        group.line);
    return;
  }
}

// The total headroom must leave the bytes of DLCP's pool that the plan uses.
void check_total(Findings& findings, const SwitchPlan& plan, std::uint64_t pool) {
  const auto priorities =
      static_cast<std::uint64_t>(std::popcount(unsigned{plan.site->pfc_priorities}));
  std::uint64_t total = 0;
  for (const PortGroupPlan& group : plan.groups)
    total += group.headroom_bytes * priorities * group.group.ports.size();
  const std::uint64_t chip = plan.capabilities.buffer_bytes;
  if (total == 0 || chip == 0 || plan.site->lossless_headroom_bytes != 0 || pool + total <= chip)
    return;
  findings.error(
      "beyond-buffer",
      "the lossy pool and the headroom that cables and speeds require exceed the chip's buffer",
      fmt::format("{} + {}", bytes_text(pool), bytes_text(total)),
      fmt::format("at most {} on {}", bytes_text(chip), plan.asic),
      "state a smaller buffer.lossy_pool, or correct the cable lengths");
}

}  // namespace

void lint_lossless(Findings& findings, const SwitchPlan& plan, const SwitchIntent& device) {
  if (plan.site->pfc_priorities == 0) return;
  for (const PortGroupPlan& group : plan.groups)
    check_cables(findings, plan, group);
  const std::uint64_t known =
      device.lossy_pool_bytes != 0 ? device.lossy_pool_bytes : plan.site->lossy_pool_bytes;
  check_total(findings, plan, known != 0 ? known : plan.capabilities.lossy_pool_bytes);
  if (plan.site->pfc_watchdog.value_or(true) || plan.features.pfc_watchdog) return;
  findings.warning("pfc-without-watchdog",
                   "PFC is on without a watchdog: one receiver that sends pause frames without end "
                   "stops the fabric, including DLCP's queues",
                   "add `pfc_watchdog: {detect: 200ms, restore: 200ms}` to this switch");
}

void lint_features(Findings& findings, const SwitchPlan& plan, const SwitchIntent& device) {
  if (plan.features.trimming)
    findings.warning(
        "trimming-needs-receivers",
        "trimmed packets keep the length in their IP header: kernels and NICs without support for "
        "trimming discard them, so trimming does not help DLCP yet",
        "watch the switch's trim counters; leave trimming out if hosts do not support it");
  if (plan.features.load_balancing == LoadBalancing::kPacket)
    findings.note("per-packet",
                  "packets of one flow arrive out of order: DLCP tolerates that, but the site's "
                  "RoCE traffic may not",
                  "check which other traffic uses these paths");
  if (!device.hash_seed) return;
  const auto& own = plan.site->hash_seed;
  if (own && *own != *device.hash_seed)
    findings.warning("hash-seed",
                     fmt::format("the switch itself sets the hash seed to {} ({}), not to {}", *own,
                                 plan.site->hash_seed_source, *device.hash_seed),
                     "state that seed, or change the setting that it follows from");
  else if (!own && !plan.features.hash_seed)
    findings.note("hash-seed", fmt::format("hash_seed is compared between tiers but not written: "
                                           "dlcp-switch knows no setting for it on {}",
                                           plan.os));
}

}  // namespace dlcp::fabric
