#include "switch/model/site/site_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "switch/model/intent_file/values.h"

namespace dlcp::fabric {
namespace {

auto up_to(std::uint64_t max) {
  return [max](std::string_view text) -> std::optional<std::uint8_t> {
    const auto value = read_integer(text, max);
    return value ? std::optional(static_cast<std::uint8_t>(*value)) : std::nullopt;
  };
}

std::optional<unsigned> read_weight(std::string_view text) {
  const auto weight = read_integer(text, 100);
  return weight && *weight > 0 ? std::optional(static_cast<unsigned>(*weight)) : std::nullopt;
}

constexpr std::string_view kClassRange = "a traffic class, 0 to 15";
constexpr std::string_view kQueueRange = "a queue, 0 to 7";

void read_dscp_map(Reading& reading, const YamlNode& node, const std::string& where,
                   DeclaredSite& site) {
  if (node.kind != YamlNode::Kind::kMap) {
    reading.fail(node.line, "wrong value of dscp_map in " + where, Section::kind_of(node),
                 "lines `DSCP: class` or `first-last: class`");
    return;
  }
  site.has_map = true;
  for (const YamlEntry& entry : node.entries) {
    const auto dscps = read_dscps(entry.key);
    const auto traffic_class = up_to(kTrafficClassesMax - 1)(entry.value.text);
    if (!dscps) {
      reading.fail(entry.line, "wrong DSCP in dscp_map of " + where, entry.key,
                   "0 to 63, a range such as 24-31, or a name such as AF21");
    } else if (entry.value.kind != YamlNode::Kind::kScalar || !traffic_class) {
      reading.fail(entry.value.line, fmt::format("wrong class of DSCP {} in {}", entry.key, where),
                   entry.value.text, std::string(kClassRange));
    } else {
      for (const std::uint8_t dscp : *dscps) {
        if (site.listed[dscp] && site.config.dscp_to_class[dscp] != traffic_class) {
          reading.fail(entry.line, fmt::format("DSCP {} is listed twice in dscp_map", dscp),
                       std::to_string(*traffic_class), "one class for each DSCP");
        }
        site.listed[dscp] = true;
        site.config.dscp_to_class[dscp] = traffic_class;
      }
    }
  }
}

void read_class_to_queue(Reading& reading, const YamlNode& node, const std::string& where,
                         SiteConfig& site) {
  if (node.kind != YamlNode::Kind::kMap)
    return reading.fail(node.line, "wrong value of class_to_queue in " + where,
                        Section::kind_of(node), "lines `class: queue`");
  for (const YamlEntry& entry : node.entries) {
    const auto traffic_class = up_to(kTrafficClassesMax - 1)(entry.key);
    const auto queue = up_to(kQueueCount - 1)(entry.value.text);
    if (!traffic_class) {
      reading.fail(entry.line, "wrong class in class_to_queue of " + where, entry.key,
                   std::string(kClassRange));
    } else if (!queue) {
      reading.fail(entry.value.line, "wrong queue in class_to_queue of " + where, entry.value.text,
                   std::string(kQueueRange));
    } else {
      site.class_to_queue[*traffic_class] = queue;
    }
  }
}

void read_queue(Reading& reading, const YamlNode& node, const std::string& where,
                SiteConfig& site) {
  Section section(reading, node, "site.queues[]", "a queue of " + where);
  if (!section.usable()) return;
  const auto number = section.value("queue", up_to(kQueueCount - 1), kQueueRange);
  if (!number) return;
  SiteQueue& queue = site.queues[*number];
  if (queue.in_use) {
    reading.fail(section.line(), fmt::format("a queue is listed twice in {}", where),
                 std::to_string(*number), "each queue once");
  }
  queue.in_use = true;
  queue.name = section.text("name").value_or("");
  queue.lossless = section.value("lossless", read_yes_no, "yes or no").value_or(false);
  queue.strict = section.value("strict", read_yes_no, "yes or no").value_or(false);
  const auto weight = section.value("weight", read_weight, "a weight, 1 to 100");
  if (weight) queue.weight = *weight;
  queue.min_share = section.value("min_share", read_percent, "a percentage such as 30%");
}

void number_queues(SiteConfig& site) {
  for (std::size_t i = 0; i < site.queues.size(); ++i)
    site.queues[i].queue = static_cast<std::uint8_t>(i);
}

// Plans use these values as indices, and a configuration may contain any number.
void check_range(Reading& reading, SiteConfig& site, int line) {
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    auto& traffic_class = site.dscp_to_class[dscp];
    if (!traffic_class || *traffic_class < kTrafficClassesMax) continue;
    reading.fail(line,
                 fmt::format("{} maps DSCP {} to a class that is out of range", site.source, dscp),
                 std::to_string(*traffic_class), std::string(kClassRange));
    traffic_class.reset();
  }
  for (unsigned i = 0; i < kTrafficClassesMax; ++i) {
    auto& queue = site.class_to_queue[i];
    if (!queue || *queue < kQueueCount) continue;
    reading.fail(line,
                 fmt::format("{} maps class {} to a queue that is out of range", site.source, i),
                 std::to_string(*queue), std::string(kQueueRange));
    queue.reset();
  }
}

// A class without a queue of the same number needs a declared one: what a switch does with the
// packets otherwise depends on the system.
void check_queues(Reading& reading, const DeclaredSite& site, const std::string& where) {
  std::set<std::uint8_t> used = {site.config.default_class};
  for (const auto& traffic_class : site.config.dscp_to_class)
    if (traffic_class) used.insert(*traffic_class);
  for (const std::uint8_t one : used)
    if (!site.config.class_to_queue[one])
      reading.fail(site.line, fmt::format("class {} of {} has no queue", one, where),
                   "no row in class_to_queue", fmt::format("{}: QUEUE", one),
                   "without a row, the class leads to the queue of its number, 0 to 7");
}

// The class of most DSCPs of an import: the class of unlisted traffic.
std::uint8_t most_common_class(const SiteConfig& site) {
  std::array<int, kTrafficClassesMax> count{};
  for (const auto& row : site.dscp_to_class) {
    const auto traffic_class = row ? row : site.unmapped_class;
    if (traffic_class && *traffic_class < kTrafficClassesMax) ++count[*traffic_class];
  }
  return static_cast<std::uint8_t>(std::max_element(count.begin(), count.end()) - count.begin());
}

}  // namespace

DeclaredSite read_site(Reading& reading, const YamlNode& node, const std::string& where) {
  DeclaredSite site;
  site.line = node.line;
  site.config.source = reading.file;
  number_queues(site.config);
  Section section(reading, node, "site", where);
  if (!section.usable()) return site;
  const auto preset = section.value("default_class", up_to(kTrafficClassesMax - 1), kClassRange);
  site.has_default = preset.has_value();
  site.config.default_class = preset.value_or(0);
  if (const YamlNode* map = section.find("dscp_map")) read_dscp_map(reading, *map, where, site);
  if (const YamlNode* map = section.find("class_to_queue"))
    read_class_to_queue(reading, *map, where, site.config);
  for (const YamlNode* queue : section.list("queues"))
    read_queue(reading, *queue, where, site.config);
  for (const auto priority : section.values("pfc_priorities", up_to(7), "a priority, 0 to 7")) {
    site.has_pfc = true;
    site.config.pfc_priorities |= static_cast<std::uint8_t>(1U << priority);
  }
  for (const auto queue : section.values("may_take_queues", up_to(kQueueCount - 1), kQueueRange))
    site.config.permitted_queues |= static_cast<std::uint8_t>(1U << queue);
  for (const auto& dscps : section.values("may_take_dscps", read_dscps, "a DSCP, 0 to 63"))
    for (const std::uint8_t dscp : dscps)
      site.config.permitted_dscps |= std::uint64_t{1} << dscp;
  if (!site.has_map) return site;
  // Declared maps are complete: unlisted DSCPs have the default class, and each class has its own
  // queue.
  for (auto& traffic_class : site.config.dscp_to_class)
    if (!traffic_class) traffic_class = site.config.default_class;
  for (std::size_t i = 0; i < kQueueCount; ++i) {
    auto& queue = site.config.class_to_queue[i];
    if (!queue) queue = static_cast<std::uint8_t>(i);
  }
  check_queues(reading, site, where);
  for (SiteQueue& queue : site.config.queues)
    if ((site.config.pfc_priorities >> queue.queue & 1) != 0) queue.lossless = true;
  return site;
}

SiteConfig complete_import(Reading& reading, SiteConfig imported, const DeclaredSite* declared,
                           int line) {
  number_queues(imported);
  check_range(reading, imported, line);
  imported.default_class = most_common_class(imported);
  if (declared == nullptr) return imported;
  const SiteConfig& said = declared->config;
  if (declared->has_default) imported.default_class = said.default_class;
  imported.permitted_dscps |= said.permitted_dscps;
  imported.permitted_queues |= said.permitted_queues;
  for (std::size_t i = 0; i < said.queues.size(); ++i) {
    SiteQueue& queue = imported.queues[i];
    if (said.queues[i].min_share) queue.min_share = said.queues[i].min_share;
    if (!said.queues[i].name.empty()) queue.name = said.queues[i].name;
    queue.in_use = queue.in_use || said.queues[i].in_use;
    queue.lossless = queue.lossless || said.queues[i].lossless;
    if (!queue.weight) queue.weight = said.queues[i].weight;
  }
  imported.pfc_priorities |= said.pfc_priorities;
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    const auto there = imported.dscp_to_class[dscp];
    if (!declared->listed[dscp] || !there || there == said.dscp_to_class[dscp]) continue;
    if ((imported.dlcp_dscps >> dscp & 1) != 0) continue;
    reading.fail(line, fmt::format("{} contradicts the declared dscp_map", imported.source),
                 fmt::format("DSCP {} -> class {}", dscp, *there),
                 fmt::format("class {} (site, line {})", *said.dscp_to_class[dscp], declared->line),
                 "correct the declaration, or import a fresh running configuration");
    break;
  }
  return imported;
}

}  // namespace dlcp::fabric
