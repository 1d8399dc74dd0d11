// Reads what `nv config show` prints: which DSCP goes to which switch priority and queue, how
// queues are scheduled, what PFC protects. What the file leaves unsaid is NVUE's documented
// default.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "switch/vendors/cumulus/document.h"
#include "switch/vendors/numbers.h"

namespace dlcp::fabric::cumulus {
namespace {

class Importer {
 public:
  explicit Importer(const NamedText& running) : running_(running) {}

  Checked<SiteConfig> run() {
    auto leaves = read_leaves(running_);
    Checked<SiteConfig> result;
    problems_ = std::move(leaves.problems);
    if (leaves.value) {
      document_->leaves = std::move(*leaves.value);
      read_ports();
      refuse_roce();
      refuse_marking();
      read_mapping();
      read_queues();
      read_pfc();
      read_remarking();
    }
    result.problems = std::move(problems_);
    if (!leaves.value || has_errors(result.problems)) return result;
    site_.source = running_.file;
    site_.imported = true;
    site_.document = document_;
    result.value = std::move(site_);
    return result;
  }

 private:
  void fault(std::string what, std::string seen, std::string expected, std::string hint) {
    problems_.push_back({Severity::kError, running_.file, 0, std::move(what), std::move(seen),
                         std::move(expected), std::move(hint)});
  }

  const Leaves& leaves() const { return document_->leaves; }

  // A number in a leaf; out of range is a problem.
  int number(const std::string& path, const std::string& text, int max) {
    const auto value = number_of(text);
    if (value && *value <= max) return *value;
    fault(path + " is out of range", text, fmt::format("0..{}", max), "correct it on the switch");
    return 0;
  }

  void read_ports() {
    for (const auto& [path, value] : leaves()) {
      if (path.compare(0, 13, "interface/swp") != 0) continue;
      auto name = path.substr(10, path.find('/', 10) - 10);
      if (site_.ports.empty() || site_.ports.back() != name) site_.ports.push_back(std::move(name));
    }
  }

  // What `nv set qos roce` sets, by the table in "RDMA over Converged Ethernet" of NVIDIA's guide
  // (5.14: the same in every release from 5.0); its buffers and headroom are each ASIC's own.
  static std::string explicit_roce(bool lossless) {
    std::string text = R"(nv unset qos roce
nv set qos mapping default-global trust l3
nv set qos egress-queue-mapping default-global switch-priority 0,1,2,4,5,7 traffic-class 0
nv set qos egress-queue-mapping default-global switch-priority 3 traffic-class 3
nv set qos egress-queue-mapping default-global switch-priority 6 traffic-class 6
nv set qos egress-scheduler default-global traffic-class 1,2,4,5,7 bw-percent 0
nv set qos egress-scheduler default-global traffic-class 0,3 bw-percent 50
nv set qos egress-scheduler default-global traffic-class 6 mode strict
nv set qos congestion-control default-global traffic-class 3 ecn enable
nv set qos congestion-control default-global traffic-class 3 min-threshold 150000
nv set qos congestion-control default-global traffic-class 3 max-threshold 1501500)";
    if (lossless) text += "\nnv set qos pfc default-global switch-priority 3";
    return text;
  }

  void refuse_roce() {
    const auto enabled = value_of(leaves(), "qos/roce/enable");
    if (enabled != "on" && enabled != "enabled" && enabled != "true") return;
    const auto mode = value_of(leaves(), "qos/roce/mode", "lossless");
    const bool known = mode == "lossless" || mode == "lossy";
    fault(
        "`qos roce` is enabled: it sets maps, buffers and PFC by itself and accepts no profiles "
        "beside it",
        "qos roce enable " + enabled, "explicit mapping, pfc and congestion-control profiles",
        known
            ? "the same as explicit settings, to be compared with `nv show qos roce`; then import "
              "again:\n" +
                  explicit_roce(mode == "lossless")
            : "`nv show qos roce` prints what mode " + mode +
                  " sets: write that out as explicit settings, unset `qos roce`, then import "
                  "again");
  }

  // Rules of ports' ACLs come after the mapping, and count more.
  void refuse_marking() {
    std::set<std::string> marking;
    for (const auto& [path, value] : leaves_from(leaves(), "acl/"))
      if (path.find("/action/set/") != std::string::npos) marking.insert(name_at(path, 4));
    for (const auto& port : site_.ports) {
      const auto root = "interface/" + port + "/acl/";
      for (const auto& [path, value] : leaves_from(leaves(), root)) {
        const auto name = name_at(path, root.size());
        if (marking.count(name) == 0 || is_own(name)) continue;
        return fault("an ACL of " + port + " sets DSCPs or classes, which is not followed", name,
                     "ports that are classed by their mapping profile alone",
                     "take the rule out of the ACL, or leave the switch out of the intent");
      }
    }
  }

  // The site's profile that most ports have.
  std::string most_used(const char* feature) const {
    std::map<std::string, int> uses;
    for (const auto& port : site_.ports)
      ++uses[profile_of(leaves(), port, feature)];
    std::string name = kDefaultProfile;
    for (const auto& [candidate, count] : uses)
      if (count > uses[name]) name = candidate;
    return name;
  }

  void read_mapping() {
    document_->mapping = most_used(kMapping);
    const Leaves map = profile(leaves(), kMapping, document_->mapping);
    const auto trust = value_of(map, "trust", "l2");
    document_->by_dscp = trust == "l3" || trust == "both";
    document_->by_pcp = trust == "l2" || trust == "both";
    document_->port_default = number("port-default-sp", value_of(map, "port-default-sp", "0"), 7);
    std::array<int, 8> uses_of{};
    for (int dscp = 0; dscp < kDscpCount; ++dscp) {
      const auto path = fmt::format("dscp/{}/switch-priority", dscp);
      const auto listed = value_of(map, path);
      const int usual = dscp / 8;
      site_.dscp_to_class[dscp] = static_cast<std::uint8_t>(
          !document_->by_dscp ? document_->port_default
                              : (listed.empty() ? usual : number(path, listed, 7)));
      ++uses_of[*site_.dscp_to_class[dscp]];
    }
    site_.default_class = static_cast<std::uint8_t>(
        std::max_element(uses_of.begin(), uses_of.end()) - uses_of.begin());
    for (int priority = 0; priority < kQueueCount; ++priority) {
      const auto path = fmt::format(
          "qos/egress-queue-mapping/default-global/switch-priority/{}/traffic-class", priority);
      const auto listed = value_of(leaves(), path);
      site_.class_to_queue[priority] =
          static_cast<std::uint8_t>(listed.empty() ? priority : number(path, listed, 7));
    }
    if (!document_->by_dscp)
      problems_.push_back(
          {Severity::kWarning,
           running_.file,
           0,
           fmt::format("ports trust {}, not DSCPs", trust),
           {},
           {},
           "DLCP's ports will trust DSCPs, with all of the site's leading where they lead now; "
           "VLAN-tagged IP packets are then classed by DSCP too"});
  }

  void read_queues() {
    const auto name = most_used(kScheduler);
    const Leaves scheduler = profile(leaves(), kScheduler, name);
    const Leaves shaper = profile(leaves(), kShaper, most_used(kShaper));
    for (int q = 0; q < kQueueCount; ++q) {
      auto& queue = site_.queues[q];
      queue.queue = static_cast<std::uint8_t>(q);
      queue.name = name;
      queue.strict = value_of(scheduler, fmt::format("traffic-class/{}/mode", q)) == "strict";
      const auto path = fmt::format("traffic-class/{}/bw-percent", q);
      const auto percent = value_of(scheduler, path);
      if (!percent.empty()) queue.weight = static_cast<unsigned>(number(path, percent, 100));
    }
    for (const auto& priority : site_.dscp_to_class)
      site_.queues[*site_.class_to_queue[*priority]].in_use = true;
  }

  void read_pfc() {
    for (const auto& [path, value] : leaves()) {
      if (path.compare(0, 8, "qos/pfc/") != 0) continue;
      const auto at = path.find("/switch-priority/");
      if (at == std::string::npos) continue;
      const int priority = number(path, path.substr(at + 17), 7);
      site_.pfc_priorities |= static_cast<std::uint8_t>(1u << priority);
      auto& queue = site_.queues[*site_.class_to_queue[priority]];
      queue.lossless = queue.in_use = true;
    }
  }

  // `qos remark PROFILE rewrite l3`: what leaves gets a DSCP by its switch priority. Priorities
  // without one are not known here, and count as lost.
  void read_remarking() {
    std::set<std::string> rewriting;
    for (const auto& [path, value] : leaves()) {
      constexpr std::string_view kRoot = "qos/remark/";
      const auto slash = path.find('/', kRoot.size());
      if (!path.starts_with(kRoot) || slash == std::string::npos) continue;
      const auto name = path.substr(kRoot.size(), slash - kRoot.size());
      const auto rest = path.substr(slash + 1);
      if (rest == "rewrite" && (value == "l3" || value == "both")) rewriting.insert(name);
      if (!rest.starts_with("switch-priority/")) continue;
      const auto end = rest.find('/', 16);
      if (end == std::string::npos) continue;
      const auto field = rest.substr(end + 1);  // "dscp", or "dscp/22"
      if (!field.starts_with("dscp")) continue;
      const int priority = number(path, rest.substr(16, end - 16), 7);
      const auto& dscp = field == "dscp" ? value : field.substr(5);
      remark_to_[name][static_cast<std::size_t>(priority)] = number(path, dscp, kDscpCount - 1);
    }
    for (const auto& port : site_.ports) {
      const auto name = profile_of(leaves(), port, "remark");
      SitePort facts{port, speed_of(port), "", rewriting.count(name) != 0};
      if (facts.rewrites_dscps && site_.egress_rewrite.empty()) {
        site_.egress_rewrite = "qos remark " + name + " rewrite";
        for (std::size_t c = 0; c < kQueueCount; ++c)
          if (const auto to = remark_to_[name][c])
            site_.class_to_dscp[c] = static_cast<std::uint8_t>(*to);
      }
      site_.port_facts.push_back(std::move(facts));
    }
    std::sort(site_.port_facts.begin(), site_.port_facts.end(),
              [](const SitePort& a, const SitePort& b) { return a.name < b.name; });
  }

  // "100G" -> bits per second; 0: not set, as with auto-negotiation.
  std::uint64_t speed_of(const std::string& port) const {
    const auto text = value_of(leaves(), "interface/" + port + "/link/speed");
    const auto gigabits = number_of(std::string_view(text).substr(0, text.find('G')));
    return gigabits && text.ends_with('G') ? static_cast<std::uint64_t>(*gigabits) * 1'000'000'000
                                           : 0;
  }

  std::map<std::string, std::array<std::optional<int>, kQueueCount>> remark_to_;
  const NamedText& running_;
  std::shared_ptr<Document> document_ = std::make_shared<Document>();
  SiteConfig site_;
  std::vector<Problem> problems_;
};

}  // namespace

Checked<SiteConfig> import_config(const NamedText& running) {
  return Importer(running).run();
}

}  // namespace dlcp::fabric::cumulus
