#include "switch/model/intent_file/intent_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace dlcp::fabric {
namespace {

constexpr KeyRow kKeys[] = {
    {"", "fabric", "section", true, "", "settings that all switches share"},
    {"", "dlcp", "section", false, "",
     "how DLCP's classes are treated; the defaults suit most fabrics"},
    {"", "site", "section", false, "",
     "the site's present classes, which do not change; needed unless every switch has its own "
     "`site` or a running_config"},
    {"", "tenants", "list", false, "",
     "other jobs, each with its own DSCPs, queues and shares; `dlcp` describes the first job"},
    {"", "switches", "list", true, "", "one entry per switch, or per range of equal switches"},

    {"fabric", "name", "text", true, "", "name of the fabric, for reports"},
    {"fabric", "base_rtt", "time", true, "",
     "round-trip time between two hosts on the idle fabric: 12us"},
    {"fabric", "link_speed", "rate", false, "", "speed of ports that state none: 400G"},
    {"fabric", "mtu", "bytes", false, "4200", "size of DLCP's IP packets"},
    {"fabric", "incast_degree", "number", false, "4",
     "number of senders that may send a burst to one port at the same time"},
    {"fabric", "saturated_queues", "number", false, "16",
     "number of queues of one switch that may be full at the same time"},

    {"tenants[]", "name", "text", true, "", "at most 12 letters, digits, '_' and '-'"},
    {"tenants[]", "classes", "file", true, "",
     "class file with the tenant's DSCPs: the file that DLCP_CLASSES names on its hosts"},
    {"tenants[]", "shares", "section", false, "",
     "shares of a busy link, in the form of dlcp.shares"},

    {"dlcp", "classes", "file", false, "",
     "class file that overrides the class table: the file that DLCP_CLASSES names on the hosts"},
    {"dlcp", "strict_limit", "percent", false, "10%",
     "rate limit of the strict queue (control), in percent of the link"},
    {"dlcp", "shares", "section", false, "", "shares of a busy link that DLCP's queues request"},
    {"dlcp", "queues", "section", false, "",
     "queue numbers; by default the plan chooses free queues"},
    {"dlcp", "level_shares", "section", false, "",
     "how the bytes of a queue are divided among its drop levels"},
    {"dlcp.shares", "exact", "percent", false, "20%", "share of the link"},
    {"dlcp.shares", "urgent", "percent", false, "20%", "share of the link"},
    {"dlcp.shares", "bulk", "percent", false, "10%", "share of the link"},
    {"dlcp.queues", "control", "queue", false, "", "a strict queue"},
    {"dlcp.queues", "exact", "queue", false, "", "a weighted queue"},
    {"dlcp.queues", "urgent", "queue", false, "", "a weighted queue"},
    {"dlcp.queues", "bulk", "queue", false, "", "a weighted queue"},
    {"dlcp.level_shares", "bulk", "section", false, "", "three levels; their sum is 100%"},
    {"dlcp.level_shares", "urgent", "section", false, "", "two levels; their sum is 100%"},
    {"dlcp.level_shares.bulk", "droppable", "percent", false, "25%",
     "packets with small magnitudes"},
    {"dlcp.level_shares.bulk", "middle", "percent", false, "0%",
     "packets with medium magnitudes; hosts mark 15% as such if dlcp.classes has bulk.levels = 3"},
    {"dlcp.level_shares.bulk", "protected", "percent", false, "75%",
     "packets with large magnitudes"},
    {"dlcp.level_shares.urgent", "droppable", "percent", false, "25%",
     "packets with small magnitudes"},
    {"dlcp.level_shares.urgent", "protected", "percent", false, "75%",
     "packets with large magnitudes"},

    {"site", "dscp_map", "map", false, "",
     "the present map from a DSCP or a range to a traffic class; DSCPs left out belong to "
     "default_class"},
    {"site", "default_class", "traffic class", false, "0",
     "class of all other DSCPs; DLCP takes DSCPs only from this class"},
    {"site", "class_to_queue", "map", false, "",
     "map from traffic class to queue, where the numbers differ"},
    {"site", "queues", "list", false, "", "the site's queues and their requirements"},
    {"site", "pfc_priorities", "list of priorities", false, "", "priorities with PFC (lossless)"},
    {"site", "may_take_dscps", "list of DSCPs", false, "",
     "DSCPs outside default_class that DLCP may use"},
    {"site", "may_take_queues", "list of queues", false, "",
     "queues that the site's maps lead to but that carry no traffic of the site: DLCP may use "
     "them"},
    {"site.queues[]", "queue", "queue", true, "", "number of the queue"},
    {"site.queues[]", "name", "text", false, "", "name of the queue, for reports"},
    {"site.queues[]", "lossless", "yes or no", false, "no", "protected by PFC"},
    {"site.queues[]", "strict", "yes or no", false, "no", "strict priority; otherwise weighted"},
    {"site.queues[]", "weight", "weight", false, "", "the present weight, in the target's scale"},
    {"site.queues[]", "min_share", "percent", false, "",
     "share of the link that this queue must keep next to DLCP"},

    {"switches[]", "name", "name or range", true, "", "leaf1, or leaf[1-16]"},
    {"switches[]", "os", "system", true, "", "a system that `dlcp-switch targets` lists"},
    {"switches[]", "version", "text", true, "", "version of the operating system: \"202311\""},
    {"switches[]", "asic", "ASIC", true, "", "tomahawk4, spectrum3, ...; software for tc"},
    {"switches[]", "sku", "text", false, "", "the vendor's hardware name"},
    {"switches[]", "role", "role", true, "", "leaf, spine, superspine or other"},
    {"switches[]", "overlay", "overlay", false, "none",
     "none, or vxlan-uniform if tunnels copy DSCP and ECN in both directions"},
    {"switches[]", "running_config", "file", false, "",
     "running configuration to import; {name} stands for the switch's name"},
    {"switches[]", "site", "section", false, "", "like the top-level `site`, only for this entry"},
    {"switches[]", "buffer", "section", false, "",
     "buffer sizes, if neither the capability table nor the import has them"},
    {"switches[]", "hash_seed", "number", false, "",
     "ECMP hash seed; tiers should have different ones. Written if the target can set it, "
     "otherwise only compared"},
    {"switches[]", "load_balancing", "mode", false, "hash",
     "how the switch chooses among equal paths: hash, flowlet or packet"},
    {"switches[]", "trimming", "section", false, "",
     "trim packets that do not fit into a full queue, instead of dropping them"},
    {"switches[]", "pfc_watchdog", "section", false, "",
     "end pause storms on the site's lossless priorities"},
    {"switches[]", "remove", "list", false, "",
     "`trimming`, `pfc_watchdog`: remove these rows, also those of the site, because their names "
     "do not show who wrote them"},
    {"switches[]", "ports", "list", true, "", "groups of equal ports"},
    {"switches[].buffer", "lossy_pool", "bytes", false, "",
     "buffer that lossy queues share: 20.6MB"},
    {"switches[].buffer", "alpha", "power of two", false, "",
     "dynamic threshold of DLCP's queues: 1/4; by default the smallest that fits"},
    {"switches[].ports[]", "ports", "ports", true, "",
     "Ethernet[0-124:4], swp[1-32], or a list of such names"},
    {"switches[].ports[]", "role", "role", true, "", "host or fabric"},
    {"switches[].ports[]", "trust", "trust", false, "",
     "required for host ports: dscp (DSCPs are accepted), or remark (DLCP's DSCPs are rewritten)"},
    {"switches[].ports[]", "remark_to", "DSCP", false, "0", "the DSCP that `trust: remark` writes"},
    {"switches[].ports[]", "speed", "rate", false, "fabric.link_speed",
     "the speed in a running configuration has precedence; a different value here is an error"},
    {"switches[].ports[]", "incast_degree", "number", false, "fabric.incast_degree", ""},
    {"switches[].ports[]", "hosts", "names", false, "",
     "hosts behind the ports, one name for each port: gpu[1-32]; `trace` accepts these names"},
    {"switches[].ports[]", "cable", "length", false, "",
     "length of the longest cable: 40m; the site's headroom is compared with it"},
    {"switches[].trimming", "size", "bytes", false, "the target's minimum",
     "size of a trimmed packet, headers included"},
    {"switches[].trimming", "dscp", "DSCP", false, "that of control",
     "DSCP of trimmed packets; it must lead to DLCP's control queue"},
    {"switches[].pfc_watchdog", "detect", "time", false, "200ms",
     "pause frames that last this long are a storm"},
    {"switches[].pfc_watchdog", "restore", "time", false, "200ms",
     "pause frames are respected again after this time without any"},
    {"switches[].ports[]", "lag", "text", false, "", "link aggregate that contains the ports"},
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
