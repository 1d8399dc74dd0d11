// A SONiC config_db.json as DLCP sees it: the tables that carry QoS, and the rows a change touches.
// A row is `TABLE|key` with its fields; ranges ("Ethernet0|3-4") are the site's and stay whole.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/vendors/numbers.h"
#include "switch/vendors/tree/rules.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::sonic {

using Json = nlohmann::json;

// Every definition of DLCP's own begins with this; nothing else of the configuration does.
inline constexpr std::string_view kPrefix = "DLCP-";
inline constexpr std::size_t kMapNameMax = 32;  // sonic-dscp-tc-map.yang and its siblings

struct Document final : ImportedDocument {
  Json config;  // the whole file, an object of tables of rows
  // Names of the site's own maps, as most ports use them; empty: none.
  std::string dscp_map, queue_map, group_map;
};

// Null if there is no such row (or table).
const Json* find_row(const Json& config, std::string_view table, std::string_view key);
// The row that the template of this table makes (switch/targets/sonic.mustache).
Json row_of(const std::string& table, const Json& numbers);
std::string text_field(const Json& row, const char* field);  // "" if absent or not a string
// The site's map that a row of PORT_QOS_MAP names in this field, below a copy of DLCP's; empty:
// none, as where DLCP gave one to a port that had none.
std::string site_map(const Json& config, const Json* port_maps, const std::string& field);
bool is_own(std::string_view name);                 // begins with kPrefix
std::string_view site_name(std::string_view name);  // without kPrefix

// "3" or "3-4" -> first and last; nullopt: neither.
struct Range {
  int first = 0, last = 0;
  bool holds(int index) const { return first <= index && index <= last; }
};
std::optional<Range> range_of(std::string_view text);

// The row of QUEUE or BUFFER_QUEUE that covers a queue of a port; null key: none does.
struct Cover {
  std::string key;
  const Json* row = nullptr;
  Range range;
};
Cover find_cover(const Json& config, std::string_view table, std::string_view port, int queue);

// One row of a change. An empty key stands for the whole table.
struct RowChange {
  std::string table, key;
  std::optional<Json> before, after;
  Impact impact = Impact::kHitless;
};

// One JSON patch (RFC 6902), applied and rolled back as a whole.
struct Patch {
  std::string name;  // of its file, without the suffix
  std::vector<RowChange> rows;
  std::vector<std::string> tables;  // absent before, created by this patch
  // The release's updater refuses rows of these tables: apply.sh writes them with `config load`
  // and deletes them from the database. The file is a JSON patch all the same, for guard.py.
  bool direct = false;

  std::string file() const { return name + (direct ? ".json-direct" : ".json-patch"); }
};

std::string apply_text(const Patch& patch);
std::string rollback_text(const Patch& patch);

// What SONiC takes, which rows name others, and what an import is refused for: data.
struct Limits {
  std::vector<tree::Range> ranges;
  std::vector<std::pair<tree::Pattern, tree::Pattern>> references;
  std::vector<tree::Refusal> refused;  // of a field of a row; {key} in what is said
};
const Limits& limits();

// Structure, ranges and references of every row that a change writes: what SONiC's YANG models and
// orchagent ask for, so that it is checked where the models are not at hand.
std::vector<Problem> check_rows(const Json& config, const std::vector<Patch>& patches);

Checked<SiteConfig> import_config(const NamedText& running);
Rendering render_switch(const SwitchPlan& plan);

}  // namespace dlcp::fabric::sonic
