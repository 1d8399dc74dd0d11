#include "switch/model/intent_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace dlcp::fabric {
namespace {

constexpr KeyRow kKeys[] = {
    {"", "fabric", "section", true, "", "what all switches share"},
    {"", "dlcp", "section", false, "", "how DLCP's classes are treated; the presets suit most"},
    {"", "site", "section", false, "",
     "classes that are there today and stay as they are; needed unless every switch has its own or "
     "a running_config"},
    {"", "tenants", "list", false, "",
     "other jobs with DSCPs, queues and shares of their own; dlcp is the first one's"},
    {"", "switches", "list", true, "", "one entry per switch, or per range of equal ones"},

    {"fabric", "name", "text", true, "", "for reports"},
    {"fabric", "base_rtt", "time", true, "", "host to host and back on the idle fabric: 12us"},
    {"fabric", "link_speed", "rate", false, "", "of ports that do not say their speed: 400G"},
    {"fabric", "mtu", "bytes", false, "4200", "IP packet size of DLCP"},
    {"fabric", "incast_degree", "number", false, "4",
     "senders that may burst into one port at once"},
    {"fabric", "saturated_queues", "number", false, "16",
     "queues of one switch that may be full at once"},

    {"tenants[]", "name", "text", true, "", "letters, digits, '_' and '-', 12 at most"},
    {"tenants[]", "classes", "file", true, "",
     "its DSCPs, the same file that DLCP_CLASSES names on its hosts"},
    {"tenants[]", "shares", "section", false, "", "parts of a busy link, as dlcp.shares"},

    {"dlcp", "classes", "file", false, "",
     "overrides of the class table, the same file that DLCP_CLASSES names"},
    {"dlcp", "strict_limit", "percent", false, "10%",
     "rate at which the strict queue (control) is shaped"},
    {"dlcp", "shares", "section", false, "", "parts of a busy link that DLCP's queues ask for"},
    {"dlcp", "queues", "section", false, "", "fixed queue numbers; else free ones are found"},
    {"dlcp", "level_shares", "section", false, "", "how the bytes of a queue divide over levels"},
    {"dlcp.shares", "exact", "percent", false, "20%", "of the link"},
    {"dlcp.shares", "urgent", "percent", false, "20%", "of the link"},
    {"dlcp.shares", "bulk", "percent", false, "10%", "of the link"},
    {"dlcp.queues", "control", "queue", false, "", "strict"},
    {"dlcp.queues", "exact", "queue", false, "", "weighted"},
    {"dlcp.queues", "urgent", "queue", false, "", "weighted"},
    {"dlcp.queues", "bulk", "queue", false, "", "weighted"},
    {"dlcp.level_shares", "bulk", "section", false, "", "three levels; they sum to 100%"},
    {"dlcp.level_shares", "urgent", "section", false, "", "two levels; they sum to 100%"},
    {"dlcp.level_shares.bulk", "droppable", "percent", false, "25%", "small magnitudes"},
    {"dlcp.level_shares.bulk", "middle", "percent", false, "0%",
     "between; hosts mark 15% where bulk.levels = 3 in dlcp.classes"},
    {"dlcp.level_shares.bulk", "protected", "percent", false, "75%", "large magnitudes"},
    {"dlcp.level_shares.urgent", "droppable", "percent", false, "25%", "small magnitudes"},
    {"dlcp.level_shares.urgent", "protected", "percent", false, "75%", "large magnitudes"},

    {"site", "dscp_map", "map", false, "",
     "DSCP or range -> traffic class, today; DSCPs left out go to default_class"},
    {"site", "default_class", "traffic class", false, "0",
     "where other DSCPs go; DLCP may take DSCPs out of this class alone"},
    {"site", "class_to_queue", "map", false, "", "traffic class -> queue where they differ"},
    {"site", "queues", "list", false, "", "queues of the site, with what must hold for them"},
    {"site", "pfc_priorities", "list of priorities", false, "", "priorities with PFC (lossless)"},
    {"site", "may_take_dscps", "list of DSCPs", false, "",
     "DSCPs outside default_class that the site gives up to DLCP"},
    {"site", "may_take_queues", "list of queues", false, "",
     "queues that the site's maps lead to and nothing of its own uses: given up to DLCP"},
    {"site.queues[]", "queue", "queue", true, "", "its number"},
    {"site.queues[]", "name", "text", false, "", "for reports"},
    {"site.queues[]", "lossless", "yes or no", false, "no", "protected by PFC"},
    {"site.queues[]", "strict", "yes or no", false, "no", "strict priority, else weighted"},
    {"site.queues[]", "weight", "weight", false, "", "in the target's scale, as configured today"},
    {"site.queues[]", "min_share", "percent", false, "",
     "of the link that this queue must keep beside DLCP"},

    {"switches[]", "name", "name or range", true, "", "leaf1, or leaf[1-16]"},
    {"switches[]", "os", "system", true, "", "a system that `dlcp-switch targets` lists"},
    {"switches[]", "version", "text", true, "", "of the operating system: \"202311\""},
    {"switches[]", "asic", "ASIC", true, "", "tomahawk4, spectrum3, ...; software for tc"},
    {"switches[]", "sku", "text", false, "", "the vendor's hardware name"},
    {"switches[]", "role", "role", true, "", "leaf, spine, superspine or other"},
    {"switches[]", "overlay", "overlay", false, "none",
     "none, or vxlan-uniform where tunnels copy DSCP and ECN both ways"},
    {"switches[]", "running_config", "file", false, "",
     "to import; {name} stands for the switch's name"},
    {"switches[]", "site", "section", false, "", "as the top's site, for this entry alone"},
    {"switches[]", "buffer", "section", false, "", "where table or import do not know it"},
    {"switches[]", "hash_seed", "number", false, "",
     "of ECMP; tiers should differ. Set where the target has it, else compared"},
    {"switches[]", "load_balancing", "mode", false, "hash",
     "how equal paths are chosen from: hash, flowlet or packet"},
    {"switches[]", "trimming", "section", false, "",
     "cut what a full queue cannot take, instead of dropping it"},
    {"switches[]", "pfc_watchdog", "section", false, "",
     "end pause storms on the site's lossless priorities"},
    {"switches[]", "remove", "list", false, "",
     "`trimming`, `pfc_watchdog`: take these rows out, whoever wrote them; they bear no name of "
     "DLCP's"},
    {"switches[]", "ports", "list", true, "", "groups of equal ports"},
    {"switches[].buffer", "lossy_pool", "bytes", false, "", "shared by lossy queues: 20.6MB"},
    {"switches[].buffer", "alpha", "power of two", false, "",
     "dynamic threshold of DLCP's queues: 1/4; else the smallest that fits"},
    {"switches[].ports[]", "ports", "ports", true, "",
     "Ethernet[0-124:4], swp[1-32], or a list of such"},
    {"switches[].ports[]", "role", "role", true, "", "host or fabric"},
    {"switches[].ports[]", "trust", "trust", false, "",
     "host ports must say: dscp (marks are taken), or remark (DLCP's marks are removed)"},
    {"switches[].ports[]", "remark_to", "DSCP", false, "0", "what trust: remark writes"},
    {"switches[].ports[]", "speed", "rate", false, "fabric.link_speed",
     "a running configuration's own speed comes first; one that differs is an error"},
    {"switches[].ports[]", "incast_degree", "number", false, "fabric.incast_degree", ""},
    {"switches[].ports[]", "hosts", "names", false, "",
     "what is behind the ports, one name for each: gpu[1-32]; `trace` goes by it"},
    {"switches[].ports[]", "cable", "length", false, "",
     "longest cable: 40m; the site's headroom is held against it"},
    {"switches[].trimming", "size", "bytes", false, "the target's least",
     "kept of a packet, headers included"},
    {"switches[].trimming", "dscp", "DSCP", false, "of control",
     "of what is left; it has to lead to DLCP's control queue"},
    {"switches[].pfc_watchdog", "detect", "time", false, "200ms",
     "pause frames without an end for this long are a storm"},
    {"switches[].pfc_watchdog", "restore", "time", false, "200ms",
     "they are heeded again after this long without"},
    {"switches[].ports[]", "lag", "text", false, "", "link aggregate that the ports belong to"},
};

// Edit distance between two words, ignoring case and dashes.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto plain = [](char c) {
    return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (plain(a[i]) == plain(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const KeyRow> intent_keys() {
  return kKeys;
}

std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  if (word.size() > 64) return "";
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t edits = distance(word, candidate);
    if (edits < best_distance) {
      best = candidate;
      best_distance = edits;
    }
  }
  return std::string(best);
}

std::string key_table_text() {
  std::string text = "| section | key | type | default | meaning |\n|---|---|---|---|---|\n";
  for (const KeyRow& row : kKeys) {
    text += fmt::format("| {} | `{}` | {} | {} | {} |\n", row.section.empty() ? "top" : row.section,
                        row.key, row.type, row.required ? "**required**" : row.preset, row.meaning);
  }
  return text;
}

}  // namespace dlcp::fabric
