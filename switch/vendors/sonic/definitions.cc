// DLCP's own profiles and maps. A map is a copy of the site's map with DLCP's entries: the site's
// row remains for every other port, and a rollback refers to it again.
#include <fmt/format.h>

#include <algorithm>

#include "switch/plan/queues/site_use.h"
#include "switch/vendors/refuser.h"
#include "switch/vendors/sonic/change.h"
#include "switch/vendors/tree/render/wanted.h"

namespace dlcp::fabric::sonic {
namespace {

constexpr const char* kNothing = "no configuration is rendered for this switch";

class DefinitionBuilder {
 public:
  DefinitionBuilder(const SwitchPlan& plan, const Document& document, ChangeSet& change,
                    Rendering& out)
      : plan_(plan), document_(document), change_(change), out_(out) {}

  Definitions run() {
    for (const auto& group : plan_.groups) {
      auto& names = result_.groups.emplace_back();
      for (const auto& queue : group.queues) {
        auto& row = names[queue.queue];
        const Json numbers = tree::queue_row(plan_, group, queue);
        row.scheduler = named("SCHEDULER", queue, row_of("SCHEDULER", numbers));
        check_depths(queue);
        const Json profile = row_of("WRED_PROFILE", numbers);
        if (!profile.empty()) row.wred = named("WRED_PROFILE", queue, profile);
        row.buffer = buffer(group, queue);
      }
    }
    put_dscp_maps();
    put_class_maps();
    put_rewriting();
    return std::move(result_);
  }

 private:
  // One row for each distinct content: "DLCP-bulk", then "DLCP-bulk-2" for ports of another speed.
  std::string named(const char* table, const QueuePlan& queue, const Json& row) {
    std::string stem = std::string(kPrefix) + queue.name;
    std::replace(stem.begin(), stem.end(), '+', '-');
    stem.resize(std::min(stem.size(), kMapNameMax - 4));
    for (int n = 1;; ++n) {
      const auto name = n == 1 ? stem : fmt::format("{}-{}", stem, n);
      const auto [at, is_new] = made_.emplace(std::string(table) + "|" + name, row);
      if (is_new) change_.put(table, name, row, Impact::kHitless);
      if (at->second == row) return name;
    }
  }

  // SONiC has one pair of thresholds per colour, and only ECT distinguishes packets of a queue.
  void check_depths(const QueuePlan& queue) {
    std::optional<std::uint64_t> depth;  // of not-ECT packets
    for (const auto& level : queue.levels) {
      if (!level.drop_bytes) continue;
      if (level.ect || (depth && *depth != *level.drop_bytes))
        refuse_(fmt::format("queue {} has drop depths that one WRED profile cannot distinguish",
                            queue.queue),
                std::to_string(*level.drop_bytes), "one depth, for not-ECT packets", kNothing);
      depth = level.drop_bytes;
    }
    if (depth && queue.mark_bytes && *depth != *queue.mark_bytes)
      refuse_(fmt::format("queue {} marks and drops at different depths", queue.queue),
              fmt::format("{} and {}", *queue.mark_bytes, *depth),
              "one depth: SONiC has one threshold pair per colour", kNothing);
  }

  // A profile with the planned alpha, copied from the lossy profile of the site's default queue;
  // added if some port of the group uses it.
  std::string buffer(const PortGroupPlan& group, const QueuePlan& queue) {
    const Json* site = lossy_profile();
    if (site == nullptr) return {};
    const auto& ports = group.group.ports;
    const bool trims = queue_trims(plan_, queue);
    const bool taken = std::any_of(ports.begin(), ports.end(), [&](const auto& port) {
      return buffer_fate(change_.config(), port, queue, trims) == BufferFate::kOwn;
    });
    const auto name =
        fmt::format("{}{}-{}{}", kPrefix, trims ? "trim" : "lossy",
                    queue.alpha_exponent < 0 ? "m" : "", std::abs(queue.alpha_exponent));
    Json row = *site;
    row["dynamic_th"] = std::to_string(queue.alpha_exponent);
    if (trims)
      row["packet_discard_action"] = "trim";
    else
      row.erase("packet_discard_action");
    if (taken) change_.put("BUFFER_PROFILE", name, row, Impact::kHitless);
    return name;
  }

  const Json* lossy_profile() const {
    const auto queue = plan_.site->class_to_queue[plan_.site->default_class];
    for (const auto& group : plan_.groups)
      for (const auto& port : group.group.ports) {
        const auto cover = find_cover(change_.config(), "BUFFER_QUEUE", port, queue.value_or(0));
        if (cover.row == nullptr) continue;
        const Json* profile =
            find_row(change_.config(), "BUFFER_PROFILE", text_field(*cover.row, "profile"));
        return profile != nullptr && profile->contains("dynamic_th") ? profile : nullptr;
      }
    return nullptr;
  }

  void put_dscp_maps() {
    Json merged = site_dscps();
    for (int dscp = 0; dscp < kDscpCount; ++dscp) {
      const auto& row = plan_.dscp[dscp];
      if (row.owner == Owner::kDlcp)
        merged[std::to_string(dscp)] = std::to_string(row.traffic_class);
    }
    result_.trusted_map = own_name(document_.dscp_map);
    bool trusted = false;
    for (const auto& group : plan_.groups) {
      if (group.group.trust == Trust::kTrusted) trusted = true;
      if (group.group.trust == Trust::kRemarked) put_remark_map(group.group.remark_dscp);
    }
    if (trusted) change_.put("DSCP_TO_TC_MAP", result_.trusted_map, merged, Impact::kHitless);
  }

  Json site_dscps() const {
    const Json* site = find_row(change_.config(), "DSCP_TO_TC_MAP", document_.dscp_map);
    if (site != nullptr) return *site;
    Json declared = Json::object();
    for (int dscp = 0; dscp < kDscpCount; ++dscp)
      if (const auto traffic_class = plan_.site->dscp_to_class[dscp])
        declared[std::to_string(dscp)] = std::to_string(*traffic_class);
    return declared;
  }

  // Ports without a DLCP sender: DLCP's DSCPs get the class of the remark DSCP.
  void put_remark_map(int remark) {
    if (result_.remark_map.count(remark) != 0) return;
    const Json site = site_dscps();
    Json row = site;
    const auto alone = plan_.remark_classes.find(static_cast<std::uint8_t>(remark));
    const auto to = alone != plan_.remark_classes.end() ? alone->second : class_of(remark);
    for (int dscp = 0; dscp < kDscpCount; ++dscp)
      if (plan_.dscp[dscp].owner == Owner::kDlcp) row[std::to_string(dscp)] = std::to_string(to);
    auto& name = result_.remark_map[remark];
    if (row == site && !document_.dscp_map.empty()) return;
    name = fmt::format("{}as-{}", kPrefix, remark);
    change_.put("DSCP_TO_TC_MAP", name, row, Impact::kHitless);
  }

  std::uint8_t class_of(int dscp) const {
    return plan_.site->dscp_to_class[dscp].value_or(plan_.site->default_class);
  }

  // Classes that carry only untrusted ports' packets are served like the classes of the DSCPs that
  // these packets are rewritten to.
  void serve_remarked(Json& queues, Json& groups) const {
    for (const auto& [remark, traffic_class] : plan_.remark_classes) {
      const auto as = std::to_string(class_of(remark));
      queues[std::to_string(traffic_class)] =
          queues.value(as, std::to_string(queue_of_class(*plan_.site, class_of(remark))));
      groups[std::to_string(traffic_class)] = groups.value(as, std::string("0"));
    }
  }

  // Rewriting at fabric ports: untrusted ports' packets get the remark DSCP, others are unchanged.
  void put_rewriting() {
    if (plan_.remark_classes.empty()) return;
    for (const auto& group : plan_.groups) {
      if (group.group.role != PortRole::kFabric) continue;
      for (const auto& port : group.group.ports) {
        const Json* row = find_row(change_.config(), "PORT_QOS_MAP", port);
        const auto site = site_map(change_.config(), row, "tc_to_dscp_map");
        const auto [name, is_new] = result_.rewriting.try_emplace(site);
        if (!is_new) continue;
        name->second = own_name(site);
        Json map = site_row("TC_TO_DSCP_MAP", site);
        for (const auto& [remark, traffic_class] : plan_.remark_classes)
          map[std::to_string(traffic_class)] = std::to_string(remark);
        change_.put("TC_TO_DSCP_MAP", name->second, map, Impact::kHitless);
      }
    }
  }

  // The site's queues of its classes. Without an imported map, they are those of the plan. Classes
  // above 7 have a row only if the intent declares one: an ASIC may have eight classes.
  Json site_queues() const {
    Json queues = site_row("TC_TO_QUEUE_MAP", document_.queue_map);
    for (std::size_t c = 0; document_.queue_map.empty() && c < kTrafficClassesMax; ++c)
      if (c < kQueueCount || (!plan_.site->imported && plan_.site->class_to_queue[c]))
        queues[std::to_string(c)] =
            std::to_string(queue_of_class(*plan_.site, static_cast<std::uint8_t>(c)));
    return queues;
  }

  // Copies the class maps if the site's maps do not lead DLCP's classes to their queues. A queue
  // map is always needed: a port without one puts every packet into queue 0
  // (SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP, saiport.h).
  void put_class_maps() {
    if (plan_.groups.empty()) return;
    Json queues = site_queues();
    Json groups = site_row("TC_TO_PRIORITY_GROUP_MAP", document_.group_map);
    const Json queues_before = queues, groups_before = groups;
    const auto lossy = groups.value(std::to_string(plan_.site->default_class), std::string("0"));
    for (const auto& queue : plan_.groups.front().queues) {
      queues[std::to_string(queue.traffic_class)] = std::to_string(queue.queue);
      groups[std::to_string(queue.traffic_class)] = lossy;
    }
    serve_remarked(queues, groups);
    result_.queue_map = document_.queue_map;
    if (document_.queue_map.empty() || queues != queues_before) {
      result_.queue_map = own_name(document_.queue_map);
      change_.put("TC_TO_QUEUE_MAP", result_.queue_map, queues, Impact::kHitless);
    }
    if (!document_.group_map.empty() && groups != groups_before) {
      result_.group_map = own_name(document_.group_map);
      change_.put("TC_TO_PRIORITY_GROUP_MAP", result_.group_map, groups, Impact::kHitless);
    }
  }

  Json site_row(const char* table, const std::string& name) const {
    const Json* row = find_row(change_.config(), table, name);
    return row != nullptr ? *row : Json::object();
  }

  std::string own_name(const std::string& site) {
    const std::string name = std::string(kPrefix) + (site.empty() ? "map" : site);
    if (name.size() > kMapNameMax)
      refuse_(fmt::format("the site's map name leaves no room for the prefix {}", kPrefix), site,
              fmt::format("at most {} characters", kMapNameMax - kPrefix.size()), kNothing);
    return name;
  }

  const SwitchPlan& plan_;
  const Document& document_;
  ChangeSet& change_;
  Rendering& out_;
  const Refuser refuse_{plan_, out_.problems};
  Definitions result_;
  std::map<std::string, Json> made_;  // "TABLE|name"
};

}  // namespace

Definitions put_definitions(const SwitchPlan& plan, const Document& document, ChangeSet& change,
                            Rendering& out) {
  return DefinitionBuilder(plan, document, change, out).run();
}

}  // namespace dlcp::fabric::sonic
