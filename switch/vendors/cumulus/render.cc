// The change of one Cumulus switch: profiles of DLCP's own, each a copy of the site's with DLCP's
// entries in it, and then the ports, a group at a time, pointed at them. Rolling back points the
// ports at what they had and removes the profiles.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "switch/vendors/cumulus/document.h"
#include "switch/vendors/cumulus/marks.h"
#include "switch/vendors/cumulus/profiles.h"
#include "switch/vendors/refuser.h"

namespace dlcp::fabric::cumulus {
namespace {

constexpr const char* kFeatures[] = {kMapping, kMarking, kScheduler, kShaper};

class Renderer {
 public:
  Renderer(const Sections& templates, const SwitchPlan& plan)
      : templates_(templates), plan_(plan) {}

  Rendering run() {
    static const Document kDeclared;
    const auto* imported = dynamic_cast<const Document*>(plan_.site->document.get());
    document_ = imported != nullptr ? imported : &kDeclared;
    content_.emplace(templates_, plan_, *document_, refuse_);
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
    for (const auto& [path, value] : leaves_from(running(), root + "/"))
      if (content.count(path.substr(root.size() + 1)) == 0)
        put(definitions, path, std::nullopt, Impact::kHitless);
  }

  // Only a priority of DLCP's may be set: the map is the whole switch's.
  void put_queue_mapping() {
    for (const auto& [path, value] : content_->queue_mapping())
      put(patches_.front(), path, value, Impact::kUnknown);
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
      for (const auto& [acl, content] : content_->mark_acls(group.remark_dscp)) {
        if (made_.emplace("acl/" + acl, content).second) put_profile("acl/" + acl, content);
        wanted.insert(binding_of(port, acl));
      }
      for (const auto& acl : site_acls(running(), port))
        acls_beside_.insert(acl);
    }
    for (const auto& path : wanted)
      put(patches_.back(), path, "{}", Impact::kUnknown);
    const auto root = fmt::format("interface/{}/acl/DLCP", port);
    for (const auto& [path, value] : leaves_from(running(), root))
      if (wanted.count(path) == 0) put(patches_.back(), path, std::nullopt, Impact::kUnknown);
  }

  // By feature, as in kFeatures; empty: the port keeps what it has.
  std::array<std::string, 4> profiles_of(const std::array<std::string, 4>& bases,
                                         const PortGroupPlan& group) {
    std::array<std::string, 4> names;
    const bool trusted = group.group.trust == Trust::kTrusted;
    if (trusted || document_->by_dscp)
      names[0] = named(kMapping, bases[0], content_->mapping(bases[0], group.group),
                       trusted ? "" : "r" + std::to_string(group.group.remark_dscp));
    names[1] = named(kMarking, bases[1], content_->marking(bases[1], group));
    names[2] = named(kScheduler, bases[2], content_->scheduler(bases[2], group));
    const Leaves limits = content_->shaper(bases[3], group);
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
        const auto name = name_at(path, prefix.size());
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
    for (const auto& [path, value] : leaves_from(running(), "acl/")) {
      const auto name = name_at(path, 4);
      if (!is_own(name) || made_.count("acl/" + name) != 0) continue;
      if (is_bound(running(), gone, name))
        kept.insert("acl/" + name);
      else
        put(patches_.back(), path, std::nullopt, Impact::kHitless);
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

  const Sections& templates_;
  const SwitchPlan& plan_;
  std::optional<Profiles> content_;
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

Rendering render_switch(const Sections& templates, const SwitchPlan& plan) {
  return Renderer(templates, plan).run();
}

}  // namespace dlcp::fabric::cumulus
