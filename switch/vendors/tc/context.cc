// The input of tc's template. It only converts units and positions; tree.h decides about bands,
// marks and drops.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "switch/vendors/tc/tc_parts.h"
#include "switch/vendors/tc/tree.h"

namespace dlcp::fabric::tc {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kBytesPerRound = 300;  // for weight 1, in one round of the weighted queues
constexpr std::uint64_t kBurstBytesMin = 20'000;
constexpr std::uint64_t kBurstsPerSecond = 1000;
constexpr unsigned kRedBurst = 32;
constexpr std::uint64_t kRedRateMax = 30'000'000'000;  // tc has 32 bits for bytes per second
constexpr unsigned kFirstPref = 0xd100;                // preference of DLCP's filters
constexpr int kPriorities = 16;                        // of packets, in the kernel

std::string hex(std::size_t number) {
  return fmt::format("{:x}", number);
}

std::string tos_of(unsigned dscp) {
  return fmt::format("{:#04x}", dscp << 2);
}

// tc computes RED's weight from min, burst and avpkt; these values give 1/2, the smallest possible
// weight, so that marking follows the momentary queue length.
void put_curve(Json& to, std::uint64_t at_bytes) {
  to["at"] = at_bytes;
  to["at_max"] = at_bytes + 1;
  to["at_average"] = (at_bytes + kRedBurst - 1) / kRedBurst;
}

Json level_row(const Band& band, std::size_t index) {
  const BandLevel& level = band.levels[index];
  Json row = {{"level", index},
              {"level_name", level.name},
              {"level_marks", level.mark_bytes > 0},
              {"level_mark_at", level.mark_bytes},
              {"level_limit", level.limit_bytes}};
  // Without marks the curve begins at the tail-drop depth: only the limit applies.
  put_curve(row, level.mark_bytes > 0 ? level.mark_bytes : band.limit_bytes);
  return row;
}

Json band_row(const Band& band, std::size_t index) {
  const auto burst = std::max(kBurstBytesMin, band.bits_per_second / 8 / kBurstsPerSecond);
  Json row = {{"minor", hex(index + 1)},
              {"place", fmt::format("parent {:x}:{:x} handle {:x}:", kHandle, index + 1,
                                    kHandle + index + 1)},
              {"queue", band.queue},
              {"name", band.name},
              {"strict", band.strict},
              {"weight", band.weight},
              {"has_rate", band.bits_per_second > 0},
              {"rate", band.bits_per_second},
              {"burst", burst},
              {"limit", band.limit_bytes},
              {"marks", band.mark_bytes > 0},
              {"mark_at", band.mark_bytes},
              {"shaped", band.kind == BandKind::kShaped},
              {"tail", band.kind == BandKind::kTail},
              {"marked", band.kind == BandKind::kMarked},
              {"levelled", band.kind == BandKind::kLevels},
              {"level_count", band.levels.size()},
              {"level_last", band.levels.empty() ? 0 : band.levels.size() - 1},
              {"levels", Json::array()}};
  put_curve(row, band.mark_bytes);
  for (std::size_t i = 0; i < band.levels.size(); ++i)
    row["levels"].push_back(level_row(band, i));
  return row;
}

Json match_rows(const std::vector<Match>& matches) {
  Json rows = Json::array();
  unsigned pref = kFirstPref;
  for (const Match& match : matches)
    for (const char* protocol : {"ip", "ipv6"})
      rows.push_back({{"protocol", protocol},
                      {"pref", pref++},
                      {"tos", tos_of(static_cast<unsigned>(match.dscp))},
                      {"level_minor", hex(match.level)},
                      {"band_minor", hex(match.band + 1)}});
  return rows;
}

// DSCPs of the first tenant in the order of its classes, then those of the other tenants.
std::vector<unsigned> marks_of(const SwitchPlan& plan) {
  std::vector<unsigned> marks;
  for (const TrafficClassRow& row : plan.classes)
    marks.push_back(row.dscp);
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    const bool listed = std::find(marks.begin(), marks.end(), dscp) != marks.end();
    if ((plan.dlcp_dscps >> dscp & 1) != 0 && !listed) marks.push_back(dscp);
  }
  return marks;
}

Json remark_rows(const SwitchPlan& plan, const PortGroup& group) {
  Json rows = Json::array();
  if (group.trust != Trust::kRemarked) return rows;
  unsigned pref = kFirstPref;
  for (const unsigned dscp : marks_of(plan)) {
    rows.push_back({{"pref", pref},
                    {"pref_ipv6", pref + 1},
                    {"tos", tos_of(dscp)},
                    {"remark_tos", tos_of(group.remark_dscp)}});
    pref += 2;
  }
  return rows;
}

Json group_row(const SwitchPlan& plan, const PortGroupPlan& planned, std::size_t number) {
  const PortGroup& group = planned.group;
  const Tree tree = tree_of(plan, planned);
  Json row = {{"group", number},
              {"pattern", fmt::format("{}", fmt::join(group.ports, " | "))},
              {"speed", group.bits_per_second},
              {"red_burst", kRedBurst},
              {"red_rate", std::min(group.bits_per_second, kRedRateMax)},
              {"remarked", group.trust == Trust::kRemarked},
              {"remark_dscp", group.remark_dscp},
              {"band_count", tree.bands.size()},
              {"bands", Json::array()},
              {"matches", match_rows(matches_of(plan, planned, tree))},
              {"remarks", remark_rows(plan, group)}};
  std::string quanta, priomap;
  std::size_t strict = 0;
  for (const Band& band : tree.bands) {
    row["bands"].push_back(band_row(band, row["bands"].size()));
    if (band.strict)
      ++strict;
    else
      quanta += fmt::format(" {}", band.weight * kBytesPerRound);
  }
  for (int priority = 0; priority < kPriorities; ++priority)
    priomap += fmt::format(" {}", tree.default_band);
  row["has_strict"] = strict > 0;
  row["strict_count"] = strict;
  row["has_quanta"] = !quanta.empty();
  row["quanta"] = quanta;
  row["priomap"] = priomap;
  return row;
}

}  // namespace

Json script_context(const SwitchPlan& plan) {
  Json context = {{"switch", plan.name},
                  {"root", hex(kHandle)},
                  {"groups", Json::array()},
                  {"imported", Json::array()}};
  const auto* import = dynamic_cast<const Import*>(plan.site->document.get());
  std::string ports;
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    context["groups"].push_back(group_row(plan, plan.groups[i], i + 1));
    for (const std::string& port : plan.groups[i].group.ports) {
      ports += (ports.empty() ? "" : " ") + port;
      if (import == nullptr || import->qdiscs.at(port).empty()) continue;
      Json lines = Json::array();
      for (const std::string& line : import->qdiscs.at(port))
        lines.push_back({{"line", line}});
      context["imported"].push_back({{"port", port}, {"lines", lines}});
    }
  }
  context["ports"] = ports;
  return context;
}

}  // namespace dlcp::fabric::tc
