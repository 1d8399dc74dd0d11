#include "switch/vendors/cumulus/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "switch/vendors/numbers.h"

namespace dlcp::fabric::cumulus {
namespace {

using Json = nlohmann::json;

constexpr int kRuleStep = 10;  // room for an operator's rules between them

std::string of_queue(int queue) {
  return fmt::format("traffic-class/{}/", queue);
}

}  // namespace

// A line is a path and its value.
void Profiles::fill(const std::string& section, const Json& context, Leaves& to) const {
  std::istringstream lines(templates_.filled(section, context));
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    if (space != std::string::npos) to[line.substr(0, space)] = line.substr(space + 1);
  }
}

Leaves Profiles::queue_mapping() const {
  Leaves leaves;
  Json classes = Json::array();
  if (!plan_.groups.empty())
    for (const auto& queue : plan_.groups.front().queues) {
      const auto today = plan_.site->class_to_queue[queue.traffic_class];
      if (today.value_or(queue.traffic_class) != queue.queue)
        classes.push_back({{"traffic_class", queue.traffic_class}, {"queue", queue.queue}});
    }
  fill("switch", {{"classes", classes}}, leaves);
  return leaves;
}

Leaves Profiles::mapping(const std::string& base, const PortGroup& group) const {
  Leaves leaves = profile(document_.leaves, kMapping, base);
  const auto& today = plan_.site->dscp_to_class;
  const auto remark = today[group.remark_dscp].value_or(plan_.site->default_class);
  Json dscps = Json::array();
  for (int dscp = 0; dscp < kDscpCount; ++dscp) {
    const auto& row = plan_.dscp[dscp];
    int priority = today[dscp].value_or(plan_.site->default_class);
    if (row.owner == Owner::kDlcp)
      priority = group.trust == Trust::kTrusted ? row.traffic_class : remark;
    dscps.push_back({{"dscp", dscp}, {"priority", priority}});
  }
  fill("mapping", {{"trust", document_.by_pcp ? "both" : "l3"}, {"dscps", dscps}}, leaves);
  return leaves;
}

std::optional<std::uint64_t> Profiles::depth_of(const QueuePlan& queue, bool& drops) const {
  auto depth = queue.mark_bytes;
  for (const auto& level : queue.levels) {
    if (!level.drop_bytes) continue;
    drops = true;
    if (level.ect || (depth && *depth != *level.drop_bytes))
      refuse_(fmt::format("queue {} has depths that one RED curve cannot tell apart", queue.queue),
              std::to_string(*level.drop_bytes), "one depth for marking and dropping",
              "nothing is rendered for this switch");
    depth = level.drop_bytes;
  }
  return depth;
}

Json Profiles::curve_rows(const PortGroupPlan& group) const {
  const auto cell = std::max<std::uint64_t>(1, plan_.capabilities.cell_bytes);
  Json rows = Json::array();
  for (const auto& queue : group.queues) {
    bool drops = false;
    const auto depth = depth_of(queue, drops);
    rows.push_back({{"queue", queue.queue},
                    {"early", depth.has_value()},
                    {"ecn", queue.mark_bytes ? "enable" : "disable"},
                    {"red", drops ? "enable" : "disable"},
                    {"at", depth.value_or(0)},
                    {"at_max", depth.value_or(0) + cell}});
  }
  return rows;
}

Leaves Profiles::marking(const std::string& base, const PortGroupPlan& group) const {
  Leaves leaves = profile(document_.leaves, kMarking, base);
  for (const auto& queue : group.queues)
    for (const char* field : {"ecn", "red", "min-threshold", "max-threshold", "probability"})
      leaves.erase(of_queue(queue.queue) + field);
  fill(kMarking, {{"queues", curve_rows(group)}}, leaves);
  return leaves;
}

std::set<int> Profiles::site_queues() const {
  std::set<int> used = {plan_.site->class_to_queue[plan_.site->default_class].value_or(0)};
  for (const auto& row : plan_.dscp)
    if (row.owner == Owner::kSite && row.mapped) used.insert(row.queue);
  for (const auto& queue : plan_.site->queues)
    if (queue.lossless) used.insert(queue.queue);
  return used;
}

// The site's queues in use keep their percentages; the others, which nothing leads to, are left
// one percent each where that still fits into 100.
Leaves Profiles::scheduler(const std::string& base, const PortGroupPlan& group) const {
  const Leaves site = profile(document_.leaves, kScheduler, base);
  const auto used = site_queues();
  Json rows = Json::array();
  const auto put = [&rows](int queue, const std::string& mode, const std::string& percent) {
    rows.push_back(
        {{"queue", queue}, {"mode", mode}, {"weighted", !percent.empty()}, {"percent", percent}});
  };
  std::set<int> idle;
  int sum = 0;
  for (int q = 0; q < kQueueCount; ++q) {
    const auto ours = std::find_if(group.queues.begin(), group.queues.end(),
                                   [q](const auto& queue) { return queue.queue == q; });
    if (ours != group.queues.end()) {
      put(q, ours->strict ? "strict" : "dwrr", ours->strict ? "" : std::to_string(ours->weight));
      sum += ours->strict ? 0 : static_cast<int>(ours->weight);
    } else if (used.count(q) != 0) {
      const auto percent = value_of(site, of_queue(q) + "bw-percent");
      put(q, value_of(site, of_queue(q) + "mode", "dwrr"), percent);
      sum += number_of(percent).value_or(0);
    } else {
      idle.insert(q);
    }
  }
  if (sum > 100)
    refuse_("the queues' percentages exceed 100", std::to_string(sum), "at most 100",
            "lower dlcp.shares, or the site's bw-percent first");
  if (sum + static_cast<int>(idle.size()) <= 100)
    for (const int q : idle)
      put(q, "dwrr", "1");
  Leaves leaves;
  fill(kScheduler, {{"queues", rows}}, leaves);
  return leaves;
}

Leaves Profiles::shaper(const std::string& base, const PortGroupPlan& group) const {
  Leaves leaves = profile(document_.leaves, kShaper, base);
  for (const auto& queue : group.queues)
    for (const char* field : {"min-rate", "max-rate"})
      leaves.erase(of_queue(queue.queue) + field);
  Json rows = Json::array();
  for (const auto& queue : group.queues)
    rows.push_back({{"queue", queue.queue},
                    {"strict", queue.strict},
                    {"shape_kbps", queue.shape_bits_per_second / 1000}});
  fill(kShaper, {{"queues", rows}}, leaves);
  return leaves;
}

std::map<std::string, Leaves> Profiles::mark_acls(int remark_dscp) const {
  Json rules = Json::array();
  for (int dscp = 0; dscp < kDscpCount; ++dscp)
    if (plan_.dscp[dscp].owner == Owner::kDlcp)
      rules.push_back({{"rule", (rules.size() + 1) * kRuleStep}, {"dscp", dscp}});
  std::map<std::string, Leaves> acls;
  for (const char* family : {"ipv4", "ipv6"})
    fill("acl", {{"family", family}, {"remark_dscp", remark_dscp}, {"rules", rules}},
         acls[fmt::format("DLCP-as-{}-{}", remark_dscp, family)]);
  return acls;
}

}  // namespace dlcp::fabric::cumulus
