// The change of one Cumulus switch: profiles of DLCP's own, each a copy of the site's with DLCP's
// entries in it, and then the ports, a group at a time, pointed at them. Rolling back points the
// ports at what they had and removes the profiles.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "switch/vendors/cumulus/document.h"
#include "switch/vendors/cumulus/marks.h"
#include "switch/vendors/numbers.h"
#include "switch/vendors/refuser.h"

namespace dlcp::fabric::cumulus {
namespace {

constexpr const char* kFeatures[] = {kMapping, kMarking, kScheduler, kShaper};

class Renderer {
 public:
  explicit Renderer(const SwitchPlan& plan) : plan_(plan) {}

  Rendering run() {
    static const Document kDeclared;
    const auto* imported = dynamic_cast<const Document*>(plan_.site->document.get());
    document_ = imported != nullptr ? imported : &kDeclared;
    begin("10-definitions");
    put_queue_mapping();
    put_hash();
    put_adaptive_routing("router");
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      const auto& group = plan_.groups[i];
      begin(fmt::format("20-ports-{:02}-{}", i + 1,
                        group.group.role == PortRole::kHost ? "host" : "fabric"));
      const bool routed = group.group.role == PortRole::kFabric && group.group.lag.empty();
      for (const auto& port : group.group.ports) {
        put_port(port, group);
        if (routed) put_adaptive_routing("interface/" + port + "/router");
      }
    }
    drop_stale();
    for (auto& problem : check_leaves(patches_)) {
      problem.file = plan_.site->source;
      out_.problems.push_back(std::move(problem));
    }
    if (has_errors(out_.problems)) return std::move(out_);
    write_files(plan_, running(), patches_, out_);
    add_notes(imported != nullptr);
    return std::move(out_);
  }

 private:
  void note(Severity severity, std::string text) {
    out_.notes.push_back({severity, std::move(text), false});
  }
  void begin(std::string name) { patches_.push_back({std::move(name), {}}); }
  const Leaves& running() const { return document_->leaves; }

  void put(Patch& patch, const std::string& path, const std::optional<std::string>& value,
           Impact impact) {
    const auto now = running().find(path);
    const auto before = now == running().end() ? std::nullopt : std::optional(now->second);
    if (before != value) patch.leaves.push_back({path, before, value, impact});
  }

  // A profile of DLCP's with this content; one per feature, base and content.
  std::string named(const char* feature, const std::string& base, const Leaves& content,
                    const std::string& tag = {}) {
    for (int n = 1;; ++n) {
      const auto name = fmt::format("DLCP{}{}-{}", tag, n == 1 ? "" : std::to_string(n), base);
      const auto root = fmt::format("qos/{}/{}", feature, name);
      const auto [at, is_new] = made_.emplace(root, content);
      if (is_new) put_profile(root, content);
      if (at->second == content) return name;
    }
  }

  void put_profile(const std::string& root, const Leaves& content) {
    Patch& definitions = patches_.front();
    for (const auto& [path, value] : content)
      put(definitions, root + "/" + path, value, Impact::kHitless);
    for (auto at = running().lower_bound(root + "/");
         at != running().end() && at->first.compare(0, root.size() + 1, root + "/") == 0; ++at)
      if (content.count(at->first.substr(root.size() + 1)) == 0)
        put(definitions, at->first, std::nullopt, Impact::kHitless);
  }

  // Switch priority -> queue is one map for the whole switch: only a priority of DLCP's may be set.
  void put_queue_mapping() {
    if (plan_.groups.empty()) return;
    for (const auto& queue : plan_.groups.front().queues) {
      if (plan_.site->class_to_queue[queue.traffic_class].value_or(queue.traffic_class) ==
          queue.queue)
        continue;
      put(patches_.front(),
          fmt::format("qos/egress-queue-mapping/default-global/switch-priority/{}/traffic-class",
                      queue.traffic_class),
          std::to_string(queue.queue), Impact::kUnknown);
    }
  }

  void put_hash() {
    const auto now = value_of(running(), "system/forwarding/ecmp-hash/source-port");
    if (now.empty() || now == "on" || now == "enabled") return;
    put(patches_.front(), "system/forwarding/ecmp-hash/source-port",
        now == "disabled" ? "enabled" : "on", Impact::kUnknown);
  }

  // Of the switch, then of each uplink that is routed by itself: bonds cannot have it.
  void put_adaptive_routing(const std::string& root) {
    if (!plan_.features.load_balancing) return;
    const bool words = is_since("cumulus", plan_.version, "5.15");
    const bool restarts = !is_since("cumulus", plan_.version, "5.13");
    put(patches_.back(), root + "/adaptive-routing/" + (words ? "state" : "enable"),
        words ? "enabled" : "on", restarts ? Impact::kReload : Impact::kUnknown);
  }

  Leaves mapping(const std::string& base, const PortGroup& group) {
    Leaves map = profile(running(), kMapping, base);
    map["trust"] = document_->by_pcp ? "both" : "l3";
    const auto remark =
        plan_.site->dscp_to_class[group.remark_dscp].value_or(plan_.site->default_class);
    for (int dscp = 0; dscp < kDscpCount; ++dscp) {
      const auto& row = plan_.dscp[dscp];
      int priority = plan_.site->dscp_to_class[dscp].value_or(plan_.site->default_class);
      if (row.owner == Owner::kDlcp)
        priority = group.trust == Trust::kTrusted ? row.traffic_class : remark;
      map[fmt::format("dscp/{}/switch-priority", dscp)] = std::to_string(priority);
    }
    return map;
  }

  std::optional<std::uint64_t> depth_of(const QueuePlan& queue, bool& drops) {
    auto depth = queue.mark_bytes;
    for (const auto& level : queue.levels) {
      if (!level.drop_bytes) continue;
      drops = true;
      if (level.ect || (depth && *depth != *level.drop_bytes))
        refuse_(
            fmt::format("queue {} has depths that one RED curve cannot tell apart", queue.queue),
            std::to_string(*level.drop_bytes), "one depth for marking and dropping",
            "nothing is rendered for this switch");
      depth = level.drop_bytes;
    }
    return depth;
  }

  Leaves marking(const std::string& base, const PortGroupPlan& group) {
    Leaves result = profile(running(), kMarking, base);
    const auto cell = std::max<std::uint64_t>(1, plan_.capabilities.cell_bytes);
    for (const auto& queue : group.queues) {
      const auto root = fmt::format("traffic-class/{}/", queue.queue);
      for (const char* field : {"ecn", "red", "min-threshold", "max-threshold", "probability"})
        result.erase(root + field);
      bool drops = false;
      const auto depth = depth_of(queue, drops);
      if (!depth) continue;
      result[root + "ecn"] = queue.mark_bytes ? "enable" : "disable";
      result[root + "red"] = drops ? "enable" : "disable";
      result[root + "min-threshold"] = std::to_string(*depth);
      result[root + "max-threshold"] = std::to_string(*depth + cell);
      result[root + "probability"] = "100";
    }
    return result;
  }

  std::set<int> site_queues() const {
    std::set<int> used = {plan_.site->class_to_queue[plan_.site->default_class].value_or(0)};
    for (const auto& row : plan_.dscp)
      if (row.owner == Owner::kSite && row.mapped) used.insert(row.queue);
    for (const auto& queue : plan_.site->queues)
      if (queue.lossless) used.insert(queue.queue);
    return used;
  }

  // The site's queues in use keep their percentages; the others, which nothing leads to, are left
  // one percent each where that still fits into 100.
  Leaves scheduler(const std::string& base, const PortGroupPlan& group) {
    const Leaves site = profile(running(), kScheduler, base);
    const auto used = site_queues();
    Leaves result;
    std::set<int> idle;
    int sum = 0;
    for (int q = 0; q < kQueueCount; ++q) {
      const auto root = fmt::format("traffic-class/{}/", q);
      const auto ours = std::find_if(group.queues.begin(), group.queues.end(),
                                     [q](const auto& queue) { return queue.queue == q; });
      if (ours != group.queues.end()) {
        result[root + "mode"] = ours->strict ? "strict" : "dwrr";
        if (ours->strict) continue;
        result[root + "bw-percent"] = std::to_string(ours->weight);
        sum += static_cast<int>(ours->weight);
      } else if (used.count(q) != 0) {
        const auto percent = value_of(site, root + "bw-percent");
        result[root + "mode"] = value_of(site, root + "mode", "dwrr");
        if (!percent.empty()) result[root + "bw-percent"] = percent;
        sum += number_of(percent).value_or(0);
      } else {
        idle.insert(q);
      }
    }
    if (sum > 100)
      refuse_("the queues' percentages exceed 100", std::to_string(sum), "at most 100",
              "lower dlcp.shares, or the site's bw-percent first");
    if (sum + static_cast<int>(idle.size()) <= 100)
      for (const int q : idle) {
        result[fmt::format("traffic-class/{}/mode", q)] = "dwrr";
        result[fmt::format("traffic-class/{}/bw-percent", q)] = "1";
      }
    return result;
  }

  Leaves shaper(const std::string& base, const PortGroupPlan& group) {
    Leaves result = profile(running(), kShaper, base);
    for (const auto& queue : group.queues) {
      const auto root = fmt::format("traffic-class/{}/", queue.queue);
      result.erase(root + "min-rate");
      result.erase(root + "max-rate");
      if (queue.strict)
        result[root + "max-rate"] = std::to_string(queue.shape_bits_per_second / 1000);
    }
    return result;
  }

  void put_port(const std::string& port, const PortGroupPlan& group) {
    const auto base = [&](const char* feature) { return profile_of(running(), port, feature); };
    if (base(kMapping) != document_->mapping)
      return refuse_(
          "port " + port + " has another mapping profile than most ports", base(kMapping),
          document_->mapping,
          "leave the port out of the intent, or give it the profile that the others have");
    const auto set = [&](const char* feature, const std::string& name) {
      put(patches_.back(), fmt::format("interface/{}/qos/{}/profile", port, feature), name,
          Impact::kHitless);
    };
    const std::array<std::string, 4> bases = {base(kMapping), base(kMarking), base(kScheduler),
                                              base(kShaper)};
    const auto [profiles, is_new] = profiles_.try_emplace({&group, bases});
    if (is_new) profiles->second = profiles_of(bases, group);
    for (std::size_t i = 0; i < bases.size(); ++i)
      if (!profiles->second[i].empty()) set(kFeatures[i], profiles->second[i]);
    put_marks(port, group.group);
  }

  // Ports that are not trusted have ACLs of DLCP's, others have none (any more).
  void put_marks(const std::string& port, const PortGroup& group) {
    std::set<std::string> wanted;
    if (group.trust == Trust::kRemarked) {
      for (const auto& [acl, content] : mark_acls(plan_, group.remark_dscp)) {
        if (made_.emplace("acl/" + acl, content).second) put_profile("acl/" + acl, content);
        wanted.insert(binding_of(port, acl));
      }
      for (const auto& acl : site_acls(running(), port))
        acls_beside_.insert(acl);
    }
    for (const auto& path : wanted)
      put(patches_.back(), path, "{}", Impact::kUnknown);
    const auto root = fmt::format("interface/{}/acl/DLCP", port);
    for (auto at = running().lower_bound(root);
         at != running().end() && at->first.starts_with(root); ++at)
      if (wanted.count(at->first) == 0)
        put(patches_.back(), at->first, std::nullopt, Impact::kUnknown);
  }

  // By feature, as in kFeatures; empty: the port keeps what it has.
  std::array<std::string, 4> profiles_of(const std::array<std::string, 4>& bases,
                                         const PortGroupPlan& group) {
    std::array<std::string, 4> names;
    const bool trusted = group.group.trust == Trust::kTrusted;
    if (trusted || document_->by_dscp)
      names[0] = named(kMapping, bases[0], mapping(bases[0], group.group),
                       trusted ? "" : "r" + std::to_string(group.group.remark_dscp));
    names[1] = named(kMarking, bases[1], marking(bases[1], group));
    names[2] = named(kScheduler, bases[2], scheduler(bases[2], group));
    const Leaves limits = shaper(bases[3], group);
    if (!limits.empty()) names[3] = named(kShaper, bases[3], limits);
    return names;
  }

  // Profiles of an earlier DLCP change that no port will have any more.
  void drop_stale() {
    std::set<std::string> referred;
    std::map<std::string, std::string> after;
    for (const auto& patch : patches_)
      for (const auto& leaf : patch.leaves)
        if (leaf.after) after[leaf.path] = *leaf.after;
    for (const auto& [path, value] : running())
      if (path.compare(0, 10, "interface/") == 0)
        for (const char* feature : kFeatures)
          if (path.find(fmt::format("/qos/{}/profile", feature)) != std::string::npos)
            referred.insert(
                fmt::format("qos/{}/{}", feature, after.count(path) != 0 ? after[path] : value));
    begin("90-cleanup");
    std::set<std::string> kept;
    for (const auto& [path, value] : running()) {
      for (const char* feature : kFeatures) {
        const auto prefix = fmt::format("qos/{}/", feature);
        if (path.compare(0, prefix.size(), prefix) != 0) continue;
        const auto name = path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size());
        if (!is_own(name) || made_.count(prefix + name) != 0) continue;
        if (referred.count(prefix + name) == 0)
          put(patches_.back(), path, std::nullopt, Impact::kHitless);
        else
          kept.insert(prefix + name);
      }
    }
    drop_stale_acls(kept);
    for (const auto& root : kept)
      note(Severity::kWarning, root + " stays: a port outside this plan still has it");
  }

  void drop_stale_acls(std::set<std::string>& kept) {
    std::set<std::string> gone;
    for (const auto& patch : patches_)
      for (const auto& leaf : patch.leaves)
        if (!leaf.after) gone.insert(leaf.path);
    for (auto at = running().lower_bound("acl/");
         at != running().end() && at->first.starts_with("acl/"); ++at) {
      const auto name = at->first.substr(4, at->first.find('/', 4) - 4);
      if (!is_own(name) || made_.count("acl/" + name) != 0) continue;
      if (is_bound(running(), gone, name))
        kept.insert("acl/" + name);
      else
        put(patches_.back(), at->first, std::nullopt, Impact::kHitless);
    }
  }

  void add_notes(bool imported) {
    if (!imported)
      note(Severity::kWarning,
           "the site is declared, not imported: apply.sh refuses if ports have QoS profiles "
           "already; "
           "import the output of `nv config show` to merge into them");
    if (plan_.features.load_balancing)
      note(Severity::kWarning,
           "adaptive routing takes what the guide calls eligible packets: look whether DLCP's UDP "
           "is "
           "among them before you count on it; before 5.13 switchd restarts when it is applied");
    note(Severity::kNote,
         "switchd is reloaded by `nv config apply`, without loss by its documentation as long as "
         "no buffer or PFC setting changes; none does here");
    note(Severity::kNote,
         "ECT packets are marked and not-ECT packets dropped at one depth: a queue has one RED "
         "curve");
    for (const auto& acl : acls_beside_)
      note(Severity::kWarning,
           "ACL " + acl +
               " of the site's is on ports that are not trusted, beside the one that "
               "rewrites DLCP's DSCPs: look which of them ends first");
  }

  const SwitchPlan& plan_;
  const Document* document_ = nullptr;
  std::vector<Patch> patches_;
  std::set<std::string> acls_beside_;
  std::map<std::string, Leaves> made_;  // "qos/FEATURE/NAME", "acl/NAME"
  // DLCP's, by port group and the site's.
  std::map<std::pair<const PortGroupPlan*, std::array<std::string, 4>>, std::array<std::string, 4>>
      profiles_;
  Rendering out_;
  const Refuser refuse_{plan_, out_.problems};
};

}  // namespace

Rendering render_switch(const SwitchPlan& plan) {
  return Renderer(plan).run();
}

}  // namespace dlcp::fabric::cumulus
