// DLCP's view of a SONiC config_db.json: the tables for QoS, and the rows that a change affects. A
// row is `TABLE|key` with its fields; ranges ("Ethernet0|3-4") belong to the site and are not
// split.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/vendors/text/numbers.h"
#include "switch/vendors/tree/target/rules.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::sonic {

using Json = nlohmann::json;

// Prefix of every definition that DLCP writes, and of no other part of the configuration.
inline constexpr std::string_view kPrefix = "DLCP-";
inline constexpr std::size_t kMapNameMax = 32;  // sonic-dscp-tc-map.yang and its siblings

struct Document final : ImportedDocument {
  Json config;  // the whole file, an object of tables of rows
  // Names of the site's maps that most ports use; empty: none.
  std::string dscp_map, queue_map, group_map;
};

// Null if the row or table does not exist.
const Json* find_row(const Json& config, std::string_view table, std::string_view key);
// The row that the template of this table produces (switch/targets/sonic.mustache).
Json row_of(const std::string& table, const Json& numbers);
std::string text_field(const Json& row, const char* field);  // "" if absent or not a string
// The site's map that a row of PORT_QOS_MAP names in this field, directly or as the base of DLCP's
// copy. Empty: none, or DLCP's map on a port that had none.
std::string site_map(const Json& config, const Json* port_maps, const std::string& field);
bool is_own(std::string_view name);                 // begins with kPrefix
std::string_view site_name(std::string_view name);  // without kPrefix

// "3" or "3-4" -> first and last; nullopt: neither.
struct Range {
  int first = 0, last = 0;
  bool holds(int index) const { return first <= index && index <= last; }
};
std::optional<Range> range_of(std::string_view text);

// The row of QUEUE or BUFFER_QUEUE that covers a queue of a port; null key: no row does.
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
  std::string name;  // file name without its suffix
  std::vector<RowChange> rows;
  std::vector<std::string> tables;  // absent before, created by this patch
  // The release's updater rejects rows of these tables: apply.sh writes them with `config load` and
  // deletes them from the database. The file is a JSON patch nevertheless, for guard.py.
  bool direct = false;

  std::string file() const { return name + (direct ? ".json-direct" : ".json-patch"); }
};

std::string apply_text(const Patch& patch);
std::string rollback_text(const Patch& patch);

// The values that SONiC accepts, references between rows, and reasons for rejecting an import:
// data.
struct Limits {
  std::vector<tree::Range> ranges;
  std::vector<std::pair<tree::Pattern, tree::Pattern>> references;
  std::vector<tree::Refusal> refused;  // of a field of a row; the message has {key}
};
const Limits& limits();

// Checks structure, ranges and references of every row that a change writes, as SONiC's YANG models
// and orchagent require them. It also works where the models are not installed.
std::vector<Problem> check_rows(const Json& config, const std::vector<Patch>& patches);

Checked<SiteConfig> import_config(const NamedText& running);
Rendering render_switch(const SwitchPlan& plan);

}  // namespace dlcp::fabric::sonic
