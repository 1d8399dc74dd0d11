// The change of one SONiC switch: JSON patches for the generic configuration updater (GCU), their
// rollbacks, and scripts that stop if an affected row differs from the import.
//
// GCU takes a port administratively down while rows of QUEUE, BUFFER_QUEUE or PORT_QOS_MAP of that
// port change (patch_sorter.py, RequiredValueIdentifier), so definitions are one patch and every
// port group is another.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "switch/vendors/embedded.h"
#include "switch/vendors/refuser.h"
#include "switch/vendors/sonic/change.h"
#include "switch/vendors/sonic/switch_features.h"

namespace dlcp::fabric::sonic {
namespace {

constexpr double kMinutesPerPort = 3;  // sonic-buildimage 23945: speed changes, same sorter

class Renderer {
 public:
  explicit Renderer(const SwitchPlan& plan) : plan_(plan), release_(plan.version, plan.asic) {}

  Rendering run() {
    static const Document kDeclared = [] {
      Document empty;
      empty.config = Json::object();
      return empty;
    }();
    const auto* imported = dynamic_cast<const Document*>(plan_.site->document.get());
    document_ = imported != nullptr ? imported : &kDeclared;
    for (const char* table : {"QUEUE", "PORT_QOS_MAP"})
      find_shared(table);
    ChangeSet change(document_->config, release_);
    change.begin("10-definitions");
    const auto definitions = put_definitions(plan_, *document_, change, out_);
    SwitchFeatures(plan_, *document_, release_, out_).put_switch(change);
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      const auto& group = plan_.groups[i].group;
      change.begin(fmt::format("20-ports-{:02}-{}", i + 1,
                               group.role == PortRole::kHost ? "host" : "fabric"));
      for (const auto& port : group.ports)
        put_port(port, plan_.groups[i], definitions, definitions.groups[i], change);
    }
    for (const auto& kept : change.drop_stale())
      note(Severity::kWarning, kept + " is kept, because a port outside this plan refers to it");
    const auto patches = change.take();
    check_direct(patches);
    auto faults = check_rows(document_->config, patches);
    for (auto& fault : faults) {
      fault.file = plan_.site->source;
      out_.problems.push_back(std::move(fault));
    }
    if (has_errors(out_.problems)) return std::move(out_);
    warn_of_unmapped();
    write(patches);
    note_watchdogs(patches);
    add_notes(imported != nullptr);
    return std::move(out_);
  }

 private:
  std::size_t ports() const {
    std::size_t count = 0;
    for (const auto& group : plan_.groups)
      count += group.group.ports.size();
    return count;
  }
  void note(Severity severity, std::string text) {
    out_.notes.push_back({severity, std::move(text), false});
  }

  // True if the port's rows, as imported, can be changed without affecting other ports.
  bool accepts(const std::string& port, const Json* maps) {
    if (document_->config.empty()) return true;
    if (find_row(document_->config, "PORT", port) == nullptr) {
      refuse_("port " + port + " is not in the imported configuration", port, "a row of PORT",
              "name physical ports (members of a port channel, not the channel itself)");
      return false;
    }
    if (text_field(*find_row(document_->config, "PORT", port), "pfc_asym") == "on") {
      refuse_("port " + port +
                  " respects pause frames of every priority (pfc_asym), also for DLCP's queues",
              "pfc_asym on", "off", "turn it off, or leave the port out");
      return false;
    }
    if (maps == nullptr) return true;
    const auto says = [&](const char* field, const char* why, const char* hint) {
      const auto name = text_field(*maps, field);
      if (name.empty()) return false;
      refuse_(fmt::format("port {} {}", port, why), fmt::format("{} {}", field, name), "none",
              hint);
      return true;
    };
    if (text_field(*maps, "dscp_to_tc_map").empty() &&
        says("dot1p_to_tc_map",
             "classifies packets only by VLAN priority, which a DSCP map would replace",
             "give the port a dscp_to_tc_map of the site first, or leave it out"))
      return false;
    if (says("scheduler", "is shaped below its speed",
             "remove the port's scheduler, or leave the port out: depths and shares are planned "
             "for its speed"))
      return false;
    const auto same = [&](const char* field, const std::string& most) {
      const auto name = site_map(document_->config, maps, field);
      if (name.empty() || name == most) return true;
      refuse_(fmt::format("port {} has a different {} than most ports", port, field), name, most,
              "leave the port out of the intent, or give it the map of the other ports");
      return false;
    };
    return same("dscp_to_tc_map", document_->dscp_map) &&
           same("tc_to_queue_map", document_->queue_map) &&
           same("tc_to_pg_map", document_->group_map);
  }

  // A row may name several ports ("Ethernet0,Ethernet4"); the change of one port must not split it.
  void find_shared(const char* table) {
    const auto found = document_->config.find(table);
    if (found == document_->config.end()) return;
    for (const auto& [key, row] : found->get_ref<const Json::object_t&>()) {
      if (key.find(',') == std::string::npos) continue;
      std::istringstream ports(key.substr(0, key.find('|')));
      for (std::string port; std::getline(ports, port, ',');)
        shared_.try_emplace(port, std::string(table) + "|" + key);
    }
  }

  bool is_shared(const std::string& port) {
    const auto found = shared_.find(port);
    if (found == shared_.end()) return false;
    refuse_(found->second + " is one row for several ports", port, "one row per port",
            "split this row of the site first");
    return true;
  }

  // An earlier plan has used queues that this one leaves to the site. The site's rows for them are
  // known only to the rollback of that change.
  bool has_left_over(const std::string& port, const PortGroupPlan& group) {
    for (const char* table : {"QUEUE", "BUFFER_QUEUE"})
      for (int queue = 0; queue < kQueueCount; ++queue) {
        const auto cover = find_cover(document_->config, table, port, queue);
        if (cover.row == nullptr || plan_uses(group, queue)) continue;
        for (const auto& value : *cover.row) {
          if (!value.is_string() || !is_own(value.get<std::string>())) continue;
          refuse_(fmt::format("queue {} has a row of an earlier plan, and this plan leaves the "
                              "queue to the site",
                              queue),
                  fmt::format("{}|{}", table, cover.key), "a row of the site, or none",
                  "roll the earlier change back with the rollback.sh of its folder, then import "
                  "the configuration again");
          return true;
        }
      }
    return false;
  }

  static bool plan_uses(const PortGroupPlan& group, int queue) {
    return std::any_of(
        group.queues.begin(), group.queues.end(),
        [queue](const QueuePlan& ours) { return ours.queue == queue; });
  }

  void put_port(const std::string& port, const PortGroupPlan& group, const Definitions& definitions,
                const std::map<int, Definitions::Queue>& names, ChangeSet& change) {
    const Json* maps = find_row(document_->config, "PORT_QOS_MAP", port);
    if (!accepts(port, maps) || is_shared(port) || has_left_over(port, group)) return;
    for (const auto& queue : group.queues) {
      const auto& name = names.at(queue.queue);
      if (const auto key = own_key("QUEUE", port, queue.queue); !key.empty()) {
        Json row = {{"scheduler", name.scheduler}};
        if (!name.wred.empty()) row["wred_profile"] = name.wred;
        change.put("QUEUE", key, row, Impact::kPortFlap);
      }
      put_buffer(port, queue, name.buffer, change);
    }
    Json row = maps != nullptr ? *maps : Json::object();
    const std::string& map = group.group.trust == Trust::kTrusted
                                 ? definitions.trusted_map
                                 : definitions.remark_map.at(group.group.remark_dscp);
    if (!map.empty() && text_field(row, "dscp_to_tc_map").empty()) unmapped_.push_back(port);
    if (!map.empty())
      row["dscp_to_tc_map"] = map;
    else if (is_own(text_field(row, "dscp_to_tc_map")))
      row["dscp_to_tc_map"] = document_->dscp_map;
    row["tc_to_queue_map"] = definitions.queue_map;
    if (!definitions.group_map.empty()) row["tc_to_pg_map"] = definitions.group_map;
    put_rewriting(group.group, definitions, maps, row);
    SwitchFeatures(plan_, *document_, release_, out_).put_port(port, row, change);
    if (!row.empty()) change.put("PORT_QOS_MAP", port, row, Impact::kPortFlap);
  }

  // Removes the map of an earlier change if nothing is rewritten any more.
  void put_rewriting(const PortGroup& group, const Definitions& definitions, const Json* maps,
                     Json& row) const {
    const auto site = site_map(document_->config, maps, "tc_to_dscp_map");
    const auto ours = definitions.rewriting.find(site);
    if (group.role == PortRole::kFabric && ours != definitions.rewriting.end())
      row["tc_to_dscp_map"] = ours->second;
    else if (!site.empty())
      row["tc_to_dscp_map"] = site;
    else
      row.erase("tc_to_dscp_map");
  }

  // The site's own packets on these ports get other classes, maybe lossless ones.
  void warn_of_unmapped() {
    const Json* global = find_row(document_->config, "PORT_QOS_MAP", "global");  // for such ports
    const auto usual = site_map(document_->config, global, "dscp_to_tc_map");
    if (unmapped_.empty() || usual == document_->dscp_map) return;
    Problem problem{Severity::kWarning, plan_.site->source, 0, "", "", "", ""};
    problem.what = fmt::format(
        "{}: port {} has no dscp_to_tc_map{}: its packets have class 0 today, and will have the "
        "classes of a copy of {}",
        plan_.name, unmapped_.front(),
        unmapped_.size() > 1 ? fmt::format(" ({} ports)", unmapped_.size()) : "",
        document_->dscp_map);
    problem.rule = "unmapped-port";
    problem.hint = "leave the port out if its hosts mark packets that must stay in class 0";
    out_.problems.push_back(std::move(problem));
  }

  // The key of the row for this queue only; empty, with a problem, if a range contains it.
  std::string own_key(const char* table, const std::string& port, int queue) {
    const auto cover = find_cover(document_->config, table, port, queue);
    if (cover.row == nullptr) return fmt::format("{}|{}", port, queue);
    if (cover.range.first == cover.range.last) return cover.key;
    refuse_(fmt::format("{}|{} is one row for several queues", table, cover.key),
            std::to_string(queue), "one row per queue", "split this row of the site first");
    return {};
  }

  void put_buffer(const std::string& port, const QueuePlan& queue, const std::string& profile,
                  ChangeSet& change) {
    const auto cover = find_cover(document_->config, "BUFFER_QUEUE", port, queue.queue);
    const bool trims = queue_trims(plan_, queue);
    switch (buffer_fate(document_->config, port, queue, trims)) {
      case BufferFate::kSite:
        return;
      case BufferFate::kLossless:
        refuse_(fmt::format("queue {} of {} has a lossless buffer profile", queue.queue, port),
                text_field(*cover.row, "profile"), "a lossy one",
                "assign another queue to DLCP (dlcp.queues in the intent file)");
        return;
      case BufferFate::kRange:
        if (trims)
          refuse_(fmt::format(
                      "BUFFER_QUEUE|{} is one row for several queues, and one of them must trim",
                      cover.key),
                  std::to_string(queue.queue), "one row per queue",
                  "split this row of the site first");
        keep_range(cover, queue.alpha_exponent);
        return;
      case BufferFate::kOwn:
        break;
    }
    if (!profile.empty())
      change.put("BUFFER_QUEUE", fmt::format("{}|{}", port, queue.queue), {{"profile", profile}},
                 Impact::kPortFlap);
  }

  void keep_range(const Cover& cover, int planned) {
    const auto name = text_field(*cover.row, "profile");
    const Json* profile = find_row(document_->config, "BUFFER_PROFILE", name);
    const auto field = [profile](const char* which) {
      return profile == nullptr ? "" : text_field(*profile, which);
    };
    const auto fixed = field("static_th");
    auto& rows = kept_ranges_[fmt::format("{} ({} {}, elsewhere dynamic_th {})", name,
                                          fixed.empty() ? "dynamic_th" : "static_th",
                                          fixed.empty() ? field("dynamic_th") : fixed, planned)];
    rows.insert(cover.key);
  }

  // `config load` writes fields and removes none.
  void check_direct(const std::vector<Patch>& patches) {
    for (const auto& patch : patches)
      for (const auto& row : patch.rows) {
        if (!patch.direct || !row.before || !row.after) continue;
        for (const auto& field : row.before->items())
          if (!row.after->contains(field.key()))
            refuse_(fmt::format("{}|{} loses its field {}, which {} cannot express", row.table,
                                row.key, field.key(), release_.name()),
                    field.key(), "the same fields, or SONiC 202511 with `config apply-patch`",
                    "roll DLCP back first, then render from the running configuration");
      }
  }

  // On some ASICs, rows of watchdogs are subject to the updater's rules of other tables.
  void note_watchdogs(const std::vector<Patch>& patches) {
    const auto is_watchdog = [](const RowChange& row) { return row.table == "PFC_WD"; };
    for (const auto& patch : patches)
      if (patch.direct && std::any_of(patch.rows.begin(), patch.rows.end(), is_watchdog))
        note(Severity::kWarning,
             fmt::format(
                 "the updater of {} accepts no rows of PFC_WD {}. They are in {}: apply.sh writes "
                 "them with `config load`, and the rollback deletes them from the database",
                 release_.name(),
                 release_.updater_takes("PFC_WD") ? "if the table does not exist yet"
                                                  : "on this ASIC",
                 patch.file()));
  }

  void write(const std::vector<Patch>& patches) {
    constexpr std::string_view kPatchCheck = "a table of SONiC's fields, ranges and references";
    for (const auto& patch : patches) {
      out_.files.push_back(
          {patch.file(), apply_text(patch), FileKind::kConfig, true, false, kPatchCheck});
      for (const auto& row : patch.rows)
        out_.changes.push_back({row.table + "|" + row.key, row.before ? row.before->dump() : "",
                                row.after ? row.after->dump() : "", row.impact});
    }
    if (patches.empty()) return;
    for (auto patch = patches.rbegin(); patch != patches.rend(); ++patch)
      out_.files.push_back({"rollback/" + patch->file(), rollback_text(*patch), FileKind::kRollback,
                            true, false, kPatchCheck});
    const auto script = [&](const char* name, std::string_view text, FileKind kind) {
      out_.files.push_back({name, std::string(text), kind, true, true});
    };
    script("apply.sh", embedded::kSonicApply, FileKind::kConfig);
    script("rollback.sh", embedded::kSonicRollback, FileKind::kRollback);
    script("guard.py", embedded::kSonicGuard, FileKind::kConfig);
    script("persist.py", embedded::kSonicPersist, FileKind::kConfig);
    if (document_->config.empty()) return;
    Json after = document_->config;
    for (const auto& patch : patches)
      for (const auto& row : patch.rows)
        if (row.after)
          after[row.table][row.key] = *row.after;
        else
          after[row.table].erase(row.key);
    out_.files.push_back(
        {"test/config_db.after.json", after.dump(2) + "\n", FileKind::kArtefact, true});
  }

  void add_notes(bool imported) {
    if (!imported)
      note(Severity::kWarning,
           "the site is declared, not imported: apply.sh refuses if PORT_QOS_MAP or QUEUE rows of "
           "these ports exist already. To merge with them, import config_db.json");
    for (const auto& [profile, rows] : kept_ranges_)
      note(
          Severity::kWarning,
          fmt::format("{} rows of BUFFER_QUEUE, the first of which is {}, also cover queues of the "
                      "site and keep {}: DLCP's queues in them have that limit, which the plan's "
                      "depths respect",
                      rows.size(), *rows.begin(), profile));
    note(Severity::kWarning,
         fmt::format("while the QUEUE and PORT_QOS_MAP rows of a port change, the updater takes "
                     "the port administratively down for minutes. Published times on 202405 are 3 "
                     "minutes for a patch of one port, 9 for two and 40 for six; a patch of twelve "
                     "ports did not end. apply.sh changes one port per patch (--batch N for more; "
                     "never more than half of the uplinks): plan {:.1f} hours for these {} ports, "
                     "and drain jobs from the hosts behind them",
                     static_cast<double>(ports()) * kMinutesPerPort / 60.0, ports()));
    if (!release_.updater_takes("WRED_PROFILE"))
      note(Severity::kWarning,
           fmt::format("{} refuses to add rows of WRED_PROFILE and BUFFER_PROFILE with `config "
                       "apply-patch` (possible since 202511): apply.sh writes 05-profiles with "
                       "`config load`, which no YANG model checks, and the rollback deletes these "
                       "rows from the database. guard.py checks both",
                       release_.name()));
    note(Severity::kNote,
         "`config qos reload` and `config load_minigraph` generate the QoS configuration again and "
         "remove these rows: run apply.sh again after them. `persist.py add` writes them to "
         "golden_config_db.json, so that they survive `config load_minigraph --override_config`. A "
         "table of that file replaces the whole generated table, with the site's rows as they are "
         "now. `persist.py remove` reverts this");
    note(Severity::kNote,
         "ECT packets are marked and not-ECT packets are dropped at the same depth: SONiC has one "
         "threshold pair per colour, and every packet is green");
    for (const auto& [remark, traffic_class] : plan_.remark_classes)
      note(Severity::kWarning,
           fmt::format("traffic class {} carries the packets of ports that are not trusted alone, "
                       "and TC_TO_DSCP_MAP of the uplinks sends them on as DSCP {}: that classes "
                       "which the map does not name keep their DSCPs is what SONiC's own documents "
                       "show (trimming), not what its model says; look at one packet of each class",
                       traffic_class, remark));
    if (const std::string warning = remark_warning(plan_); !warning.empty())
      note(Severity::kWarning, warning + ", unless an ACL or the host's uplink rewrites them");
  }

  const SwitchPlan& plan_;
  const Release release_;
  const Document* document_ = nullptr;
  Rendering out_;
  const Refuser refuse_{plan_, out_.problems};
  std::vector<std::string> unmapped_;                         // ports without a dscp_to_tc_map
  std::map<std::string, std::string> shared_;                 // by port: the row
  std::map<std::string, std::set<std::string>> kept_ranges_;  // by profile
};

}  // namespace

Rendering render_switch(const SwitchPlan& plan) {
  return Renderer(plan).run();
}

}  // namespace dlcp::fabric::sonic
