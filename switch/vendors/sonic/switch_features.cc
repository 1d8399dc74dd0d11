#include "switch/vendors/sonic/switch_features.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlcp::fabric::sonic {

void SwitchFeatures::put_switch(ChangeSet& change) {
  put_hash(change);
  put_trimming(change);
}

void SwitchFeatures::put_hash(ChangeSet& change) {
  const Json* now = find_row(document_.config, "SWITCH_HASH", "GLOBAL");
  if (now == nullptr || !now->contains("ecmp_hash")) {
    note(Severity::kWarning,
         fmt::format(
             "ECMP hash fields are not configured on this switch, and DLCP does not add them "
             "(SONiC cannot remove that row again){}; the UDP source port must be among them, "
             "otherwise all packets of a connection take one path",
             release_.has_table("SWITCH_HASH") ? ": see `show switch-hash global`" : ""));
    return;
  }
  const auto& fields = (*now)["ecmp_hash"];
  if (!fields.is_array() || std::find(fields.begin(), fields.end(), "L4_SRC_PORT") != fields.end())
    return;
  Json row = *now;
  row["ecmp_hash"].push_back("L4_SRC_PORT");
  change.put("SWITCH_HASH", "GLOBAL", row, Impact::kUnknown);
}

void SwitchFeatures::put_trimming(ChangeSet& change) {
  if (plan_.features.remove_trimming) return remove_trimming(change);
  if (!plan_.features.trimming) {
    if (find_row(document_.config, "SWITCH_TRIMMING", "GLOBAL") != nullptr)
      note(Severity::kNote,
           "the switch has SWITCH_TRIMMING|GLOBAL, whose name does not show who wrote it: it is "
           "kept. `remove: [trimming]` removes it in any case");
    return;
  }
  const auto& trimming = *plan_.features.trimming;
  const Json row = row_of("SWITCH_TRIMMING", {{"trim_size", trimming.size_bytes},
                                              {"trim_dscp", trimming.dscp},
                                              {"trim_queue", trimming.queue}});
  const Json* now = find_row(document_.config, "SWITCH_TRIMMING", "GLOBAL");
  if (now != nullptr && *now != row)
    refuse_("the site trims packets already, with other settings", now->dump(), row.dump(),
            "the whole switch has one setting: state the site's values in `trimming`, or agree on "
            "common ones");
  if (document_.config.empty() || !document_.config.contains("BUFFER_QUEUE"))
    refuse_("trimming is a field of buffer profiles, and the profiles of this switch are unknown",
            plan_.site->source, "an import with BUFFER_QUEUE and BUFFER_PROFILE rows",
            "import `show runningconfiguration all`, or leave trimming out");
  change.put("SWITCH_TRIMMING", "GLOBAL", row, Impact::kHitless);
  note(Severity::kWarning,
       "after a rollback, SWITCH_TRIMMING stays in effect until the next boot (orchagent logs an "
       "error when the row is removed); without profiles that trim, it has no effect");
  if (trimming.queue == plan_.capabilities.control_plane_queue)
    note(Severity::kWarning, fmt::format("this ASIC sends trimmed packets through queue {}, which "
                                         "also carries the switch's own BGP and LACP packets",
                                         trimming.queue));
}

// Requires that no queue trims any more: trimming queues of the site would begin to drop.
void SwitchFeatures::remove_trimming(ChangeSet& change) {
  const auto profiles = document_.config.find("BUFFER_PROFILE");
  if (profiles != document_.config.end())
    for (const auto& [name, row] : profiles->items())
      if (!is_own(name) && text_field(row, "packet_discard_action") == "trim")
        return refuse_("a buffer profile of the site trims packets", name,
                       "trimming only in DLCP's profiles",
                       "leave `remove: [trimming]` out: the site needs SWITCH_TRIMMING");
  change.remove("SWITCH_TRIMMING", "GLOBAL", Impact::kHitless);
  note(Severity::kWarning,
       "SWITCH_TRIMMING|GLOBAL is removed because the intent requests it, although the row does "
       "not show who wrote it; it stays in effect until the next boot");
}

// Adds watchdogs for the site's lossless priorities of a port; an existing row is kept.
void SwitchFeatures::put_port(const std::string& port, Json& maps, ChangeSet& change) {
  const auto& watchdog = plan_.features.pfc_watchdog;
  const auto priorities = text_field(maps, "pfc_enable");
  if (plan_.features.remove_pfc_watchdog) {
    change.remove("PFC_WD", port, Impact::kHitless);
    maps.erase("pfcwd_sw_enable");
    return;
  }
  if (!watchdog || priorities.empty()) return;
  if (find_row(document_.config, "PFC_WD", port) == nullptr)
    change.put("PFC_WD", port,
               row_of("PFC_WD",
                      {{"detect_ms", watchdog->detect_ms}, {"restore_ms", watchdog->restore_ms}}),
               Impact::kHitless);
  if (!maps.contains("pfcwd_sw_enable")) maps["pfcwd_sw_enable"] = priorities;
}

}  // namespace dlcp::fabric::sonic
