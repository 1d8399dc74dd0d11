// The input of templates. It only converts units: every number comes from the plan.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "switch/plan/buffer/arithmetic.h"
#include "switch/plan/queues/site_use.h"
#include "switch/vendors/tree/render/wanted.h"

namespace dlcp::fabric::tree {
namespace {

using Json = nlohmann::json;

constexpr int kSpareSequence = 900;  // if the site's strict schedulers leave no lower number
constexpr const char* kColours[] = {"low", "medium", "high"};  // drop precedence 0, 1, 2

// A depth in every unit that a target may need.
void put_depth(Json& to, const std::string& name, std::uint64_t bytes, std::uint64_t limit,
               std::uint64_t cell) {
  to[name] = bytes;
  to[name + "_max"] = bytes + std::max<std::uint64_t>(cell, 1);
  to[name + "_kb"] = std::max<std::uint64_t>(bytes / 1024, 1);
  to[name + "_kb_max"] = bytes / 1024 + 1;
  const std::uint64_t percent = whole_percent(bytes, limit);
  to[name + "_percent"] = percent;
  to[name + "_percent_max"] = percent + 1;
}

std::string bits_of(int dscp) {
  std::string text;
  for (int bit = 5; bit >= 0; --bit)
    text += (dscp >> bit & 1) != 0 ? '1' : '0';
  return text;
}

std::string fixed_name(const Target& target, int queue) {
  for (const auto& [name, index] : target.class_names)
    if (index == queue) return name;
  return "";
}

// The site's name, else the system's, else one of DLCP's.
std::string site_queue_name(const Target& target, const Document& document, int queue) {
  if (document.queue_name.count(queue) == 0)
    for (const auto& [name, index] : target.queue_names)
      if (index == queue) return name;
  return queue_name(document, queue);
}

std::string class_of(const Target& target, const Document& document, int queue) {
  const auto known = document.class_name.find(queue);
  return known != document.class_name.end() ? known->second : fixed_name(target, queue);
}

// A queue without a class of the site or the system gets one of DLCP.
void put_class(Json& row, const std::string& name, int queue) {
  row["class_name"] = name.empty() ? fmt::format("DLCP-fc{}", queue) : name;
  if (name.empty()) row["unnamed"] = true;
}

Json dscp_row(const ClassedDscp& one) {
  Json row = {{"dscp", one.dscp},
              {"bits", bits_of(one.dscp)},
              {"queue", one.queue},
              {"traffic_class", one.traffic_class}};
  row["precedence"] = one.precedence;
  row["level"] = kColours[std::clamp(one.precedence, 0, 2)];
  put_class(row, one.class_name, one.queue);
  if (!one.unstated_queue.empty()) row["unstated_queue"] = one.unstated_queue;
  if (one.queue_is_named) row["named"] = true;
  if (one.ours) row["ours"] = true;
  return row;
}

Json level_row(const Level& level, const QueuePlan& queue, std::uint64_t cell) {
  Json row = {{"precedence", level.drop_precedence},
              {"level", kColours[std::clamp<int>(level.drop_precedence, 0, 2)]},
              {"ect", level.ect},
              {"drop", level.drop_bytes.has_value()}};
  if (level.drop_bytes) put_depth(row, "drop_at", *level.drop_bytes, queue.limit_bytes, cell);
  return row;
}

}  // namespace

Json queue_row(const SwitchPlan& plan, const PortGroupPlan& group, const QueuePlan& queue) {
  const auto cell = plan.capabilities.cell_bytes;
  const double speed = static_cast<double>(group.group.bits_per_second);
  Json row = {
      {"queue", queue.queue},
      {"traffic_class", queue.traffic_class},
      {"carries", queue.name},
      {"strict", queue.strict},
      {"weight", queue.weight},
      {"limit", queue.limit_bytes},
      {"alpha", queue.alpha_exponent},
      {"alpha_fraction", queue.alpha_exponent < 0 ? fmt::format("1_{}", 1 << -queue.alpha_exponent)
                                                  : std::to_string(1 << queue.alpha_exponent)},
      {"shape_bps", queue.shape_bits_per_second},
      {"shape_kbps", queue.shape_bits_per_second / 1000},
      {"shape_bytes", queue.shape_bits_per_second / 8},
      {"burst", queue.shape_burst_bytes},
      {"burst_at_least", std::max<std::uint64_t>(queue.shape_burst_bytes, 1)},
      {"mark", queue.mark_bytes.has_value()},
      {"trims", plan.features.trimming.has_value() && !queue.strict}};
  row["shape_percent"] =
      std::max(1, static_cast<int>(100.0 * static_cast<double>(queue.shape_bits_per_second) /
                                   std::max(speed, 1.0)));
  if (queue.mark_bytes) put_depth(row, "mark_at", *queue.mark_bytes, queue.limit_bytes, cell);
  std::optional<std::uint64_t> first = queue.mark_bytes;  // if one curve both marks and drops
  row["levels"] = Json::array();
  bool drops = false;
  for (const Level& level : queue.levels) {
    row["levels"].push_back(level_row(level, queue, cell));
    if (level.drop_bytes && !first) first = level.drop_bytes;
    drops = drops || level.drop_bytes.has_value();
  }
  std::string list;
  for (std::size_t dscp = 0; dscp < kDscpCount; ++dscp)
    if (plan.dscp[dscp].owner == Owner::kDlcp && plan.dscp[dscp].queue == queue.queue)
      list += (list.empty() ? "" : ",") + std::to_string(dscp);
  row["drops"] = drops;
  row["drops_text"] = drops ? "true" : "false";
  row["mark_text"] = queue.mark_bytes ? "true" : "false";
  row["early"] = first.has_value();
  row["dscp_list"] = list;
  if (first) put_depth(row, "early_at", *first, queue.limit_bytes, cell);
  return row;
}

std::string word_used(const Word& word, const std::string& name, const SwitchPlan& plan,
                      const Document& document) {
  const auto seen = document.words.find(name);
  if (seen != document.words.end()) return seen->second;
  for (const auto& [asic, text] : word.asics)
    if (plan.asic.starts_with(asic)) return text;
  for (auto release = word.releases.rbegin(); release != word.releases.rend(); ++release)
    if (is_since(plan.os, plan.version, release->first)) return release->second;
  return word.otherwise;
}

std::set<int> queues_in_use(const SwitchPlan& plan) {
  std::set<int> used = {plan.site->class_to_queue[plan.site->default_class].value_or(0)};
  for (const DscpRow& row : plan.dscp)
    if (row.mapped) used.insert(row.queue);
  for (const SiteQueue& queue : plan.site->queues)
    if (queue.lossless) used.insert(queue.queue);
  for (const PortGroupPlan& group : plan.groups)
    for (const QueuePlan& queue : group.queues)
      used.insert(queue.queue);
  return used;
}

std::string queue_name(const Document& document, int queue) {
  const auto known = document.queue_name.find(queue);
  return known == document.queue_name.end() ? fmt::format("DLCP-q{}", queue) : known->second;
}

namespace {

// Empty words are left out.
void put_words(const Target& target, const SwitchPlan& plan, const Document& document, Json& to) {
  for (const auto& [name, word] : target.words) {
    auto text = word_used(word, name, plan, document);
    to[name] = text.empty() ? Json(false) : Json(std::move(text));
  }
}

// Queues of the site, for schedulers that contain nothing of the site. "serves": something leads
// there, be it only the switch's own packets. "control_plane": the queue of these packets, if the
// site states nothing about it. "weight": the site's, reduced to what DLCP's leave of 100 percent.
// `fits`: nothing is reduced, with one percent for each queue that nothing leads to.
Json idle_rows(const Target& target, const SwitchPlan& plan, const Document& document,
               const PortGroupPlan& group, unsigned used, bool& fits) {
  std::vector<const SiteQueue*> queues;
  for (const SiteQueue& site : plan.site->queues)
    if (std::none_of(group.queues.begin(), group.queues.end(),
                     [&](const QueuePlan& ours) { return ours.queue == site.queue; }))
      queues.push_back(&site);
  const std::set<int> in_use = queues_in_use(plan);
  const auto stated = [&](const SiteQueue& site) {
    return in_use.count(site.queue) != 0 ? site.weight.value_or(0) : 0;
  };
  unsigned said = 0, percent = used, others = 0;
  for (const SiteQueue* site : queues) {
    said += stated(*site);
    others += stated(*site) == 0 ? 1 : 0;
    percent += in_use.count(site->queue) == 0 ? 1 : site->weight.value_or(0);
  }
  fits = percent <= 100;
  const unsigned room = 100 - std::min(100U, used + others);  // for the stated weights
  const unsigned kept = plan.capabilities.weights_are_percent ? std::min(said, room) : said;
  const unsigned each = others > 0 ? (100 - std::min(100U, used + kept)) / others : 0;
  Json rows = Json::array();
  int level = 0;
  for (auto at = queues.rbegin(); at != queues.rend(); ++at) {
    const SiteQueue& site = **at;
    const bool is_used = in_use.count(site.queue) != 0;
    const auto weight = stated(site) > 0 ? stated(site) * kept / said : each;
    Json row = {{"queue", site.queue},
                {"weight", std::max(weight, 1U)},
                {"default", site.queue == 0},
                {"lossless", site.lossless},
                {"unused", !is_used},
                {"queue_name", site_queue_name(target, document, site.queue)},
                {"strict", site.strict && site.in_use}};
    const bool own = site.queue == plan.capabilities.control_plane_queue;
    row["serves"] = is_used || site.in_use || own;
    row["control_plane"] = own && !site.strict && !site.weight;
    row["named"] = document.queue_name.count(site.queue) != 0;
    put_class(row, class_of(target, document, site.queue), site.queue);
    if (site.strict && site.in_use) {
      row["own_sequence"] = level;
      row["strict_level"] = ++level;
    }
    rows.push_back(std::move(row));
  }
  std::reverse(rows.begin(), rows.end());
  return rows;
}

}  // namespace

Json queues_context(const Target& target, const SwitchPlan& plan, const Document& document,
                    const PortGroupPlan& group) {
  Json list = Json::array();
  unsigned used = 0;
  for (const QueuePlan& queue : group.queues) {
    list.push_back(queue_row(plan, group, queue));
    list.back()["class_name"] = fixed_name(target, queue.queue);
    list.back()["queue_name"] = queue_name(document, queue.queue);
    list.back()["named"] = document.queue_name.count(queue.queue) != 0;
    used += queue.weight;
  }
  bool idle_fits = false;
  const Json idle = idle_rows(target, plan, document, group, used, idle_fits);
  const auto strict_queues =
      std::count_if(plan.site->queues.begin(), plan.site->queues.end(),
                    [](const SiteQueue& queue) { return queue.strict && queue.in_use; });
  // Without schedulers of the site: its strict queues one by one, DLCP's, then the weighted ones.
  const int weighted = document.weighted_sequence.value_or(static_cast<int>(strict_queues) + 1);
  int strict = weighted - 1;
  while (strict > 0 && document.strict_sequences.count(strict) != 0)
    --strict;
  if (strict < 0 || document.strict_sequences.count(strict) != 0) strict = kSpareSequence;
  Json context = {{"queues", list},
                  {"strict_level", strict_queues + 1},
                  {"idle", idle},
                  {"idle_fits", idle_fits},
                  {"sprays", plan.features.load_balancing.has_value() &&
                                 group.group.role == PortRole::kFabric && group.group.lag.empty()},
                  {"weighted_sequence", weighted},
                  {"strict_sequence", strict}};
  put_words(target, plan, document, context);
  return context;
}

Json map_context(const Target& target, const SwitchPlan& plan, const Document& document) {
  Json dscps = Json::array(), classes = Json::array();
  for (int dscp = 0; dscp < kDscpCount; ++dscp) {
    const DscpRow& row = plan.dscp[static_cast<std::size_t>(dscp)];
    if (row.owner != Owner::kDlcp) continue;
    dscps.push_back(dscp_row({dscp, row.queue, row.drop_precedence, row.traffic_class, false,
                              class_of(target, document, row.queue)}));
  }
  for (const QueuePlan& queue : plan.groups.front().queues) {
    const auto& doubtful = target.doubtful_classes;
    const bool is_usual =
        queue.traffic_class == queue.queue && document.classes.count(queue.traffic_class) == 0 &&
        std::find(doubtful.begin(), doubtful.end(), queue.traffic_class) == doubtful.end();
    if (!is_usual)
      classes.push_back({{"traffic_class", queue.traffic_class}, {"queue", queue.queue}});
  }
  return {{"mapped", dscps}, {"classes", classes}};
}

Json remark_context(const SwitchPlan& plan, const PortGroup& group) {
  constexpr std::size_t kRuleStep = 10;  // leaves room for an operator's rules between them
  std::string list;
  Json marks = Json::array();
  for (int dscp = 0; dscp < kDscpCount; ++dscp) {
    if (plan.dscp[static_cast<std::size_t>(dscp)].owner != Owner::kDlcp) continue;
    list += (list.empty() ? "" : ",") + std::to_string(dscp);
    marks.push_back({{"rule", (marks.size() + 1) * kRuleStep}, {"dscp", dscp}});
  }
  return {{"marks", marks},
          {"remarked", group.trust == Trust::kRemarked},
          {"remark_dscp", group.remark_dscp},
          {"remark_class",
           plan.site->dscp_to_class[group.remark_dscp].value_or(plan.site->default_class)},
          {"dscps_of_dlcp", list}};
}

Json features_context(const Target& target, const SwitchPlan& plan, const Document& document) {
  constexpr unsigned kPollMs = 100;
  const PlannedFeatures& features = plan.features;
  Json context = {{"seeded", features.hash_seed.has_value()},
                  {"hash_seed", features.hash_seed.value_or(0)},
                  {"flowlet", features.load_balancing == LoadBalancing::kFlowlet},
                  {"packet", features.load_balancing == LoadBalancing::kPacket},
                  {"trimming", features.trimming.has_value()},
                  {"watchdog", features.pfc_watchdog.has_value()},
                  {"pfc_profiles", Json::array()}};
  put_words(target, plan, document, context);
  if (features.trimming) {
    context["trim_size"] = features.trimming->size_bytes;
    context["trim_dscp"] = features.trimming->dscp;
    context["trim_queue"] = features.trimming->queue;
  }
  if (features.pfc_watchdog) {
    context["polls"] = std::max(features.pfc_watchdog->detect_ms / kPollMs, 1U);
    context["restore_ms"] = features.pfc_watchdog->restore_ms;
  }
  for (const auto& profile : document.pfc_profiles)
    context["pfc_profiles"].push_back({{"profile", profile}});
  return context;
}

ClassedDscps classed_dscps(const Target& target, const SwitchPlan& plan, const Document& document,
                           const PortGroup& group) {
  const bool trusted = group.trust == Trust::kTrusted;
  ClassedDscps map{{}, {}, document.by_tag, !trusted};
  std::set<int> of_dlcp;
  for (const PortGroupPlan& planned : plan.groups)
    for (const QueuePlan& queue : planned.queues)
      of_dlcp.insert(queue.queue);
  // As the site treats this DSCP. Its queue may have another number than its class.
  const auto today = [&plan](int row, std::size_t dscp) -> ClassedDscp {
    const auto traffic_class = plan.site->dscp_to_class[dscp].value_or(plan.site->default_class);
    return {row, queue_of_class(*plan.site, traffic_class), 0, traffic_class, false, ""};
  };
  for (int dscp = 0; dscp < kDscpCount; ++dscp) {
    const DscpRow& row = plan.dscp[static_cast<std::size_t>(dscp)];
    const bool ours = row.owner == Owner::kDlcp;
    ClassedDscp one{dscp, row.queue, row.drop_precedence, row.traffic_class, true, ""};
    if (!ours)
      one = today(dscp, static_cast<std::size_t>(dscp));
    else if (!trusted)
      one = today(dscp, group.remark_dscp);
    one.class_name = class_of(target, document, one.queue);
    const bool shared = of_dlcp.count(one.queue) != 0;  // its name is stated with DLCP's queues
    one.queue_is_named = shared || document.queue_name.count(one.queue) != 0;
    if (document.class_name.count(one.queue) == 0)
      one.unstated_queue =
          shared ? queue_name(document, one.queue) : site_queue_name(target, document, one.queue);
    (ours ? map.ours : map.others).push_back(std::move(one));
  }
  return map;
}

Json context_of(const ClassedDscps& map) {
  Json ours = Json::array(), others = Json::array();
  for (const ClassedDscp& one : map.ours)
    ours.push_back(dscp_row(one));
  for (const ClassedDscp& one : map.others)
    others.push_back(dscp_row(one));
  Json context = {{"dscps", ours}, {"others", others}, {"by_tag", map.by_tag}};
  if (map.remarked) context["remarked"] = true;
  return context;
}

std::string text_of(const ClassedDscps& map) {
  std::string text = map.by_tag ? "tag " : "";
  if (map.remarked) text += "remarked ";
  for (const auto* list : {&map.ours, &map.others}) {
    text += '\n';
    for (const ClassedDscp& one : *list)
      fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {}\n", one.dscp, one.queue,
                     one.precedence, one.traffic_class, one.ours, one.class_name);
  }
  return text;
}

}  // namespace dlcp::fabric::tree
