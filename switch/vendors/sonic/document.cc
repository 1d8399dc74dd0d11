#include "switch/vendors/sonic/document.h"

#include <sstream>

#include "switch/vendors/sections.h"

namespace dlcp::fabric::sonic {
namespace {

void append_escaped(std::string& out, std::string_view token) {
  for (const char c : token)
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
}

// The path "/TABLE/key" as a JSON string, escaped according to RFC 6901 and JSON.
std::string path_of(const std::string& table, const std::string& key) {
  std::string path = "/";
  append_escaped(path, table);
  if (!key.empty()) {
    path += '/';
    append_escaped(path, key);
  }
  return Json(path).dump();
}

class Operations {
 public:
  void add(const char* op, const std::string& path, const Json* value) {
    text_ += text_.empty() ? "[\n  " : ",\n  ";
    text_ += "{\"op\": \"";
    text_ += op;
    text_ += "\", \"path\": ";
    text_ += path;
    if (value != nullptr) {
      text_ += ", \"value\": ";
      text_ += value->dump();
    }
    text_ += '}';
  }
  std::string take() { return text_.empty() ? "[]\n" : std::move(text_) + "\n]\n"; }

 private:
  std::string text_;
};

// A change of a row from one state to another. It tests the present state first; as a patch applies
// completely or not at all, it is rejected if the row is in another state.
void add_row(Operations& operations, const RowChange& row, const std::optional<Json>& from,
             const std::optional<Json>& to) {
  const std::string path = path_of(row.table, row.key);
  if (from) operations.add("test", path, &*from);
  if (from && to)
    operations.add("replace", path, &*to);
  else if (to)
    operations.add("add", path, &*to);
  else if (from)
    operations.add("remove", path, nullptr);
}

bool is_created(const Patch& patch, const std::string& table) {
  for (const auto& created : patch.tables)
    if (created == table) return true;
  return false;
}

Json rows_of(const Patch& patch, const std::string& table) {
  Json rows = Json::object();
  for (const auto& row : patch.rows)
    if (row.table == table) rows[row.key] = *row.after;
  return rows;
}

}  // namespace

const Json* find_row(const Json& config, std::string_view table, std::string_view key) {
  const auto found = config.find(std::string(table));
  if (found == config.end() || !found->is_object()) return nullptr;
  const auto row = found->find(std::string(key));
  return row == found->end() ? nullptr : &*row;
}

Json row_of(const std::string& table, const Json& numbers) {
  static const Sections kTemplates = sections_of_target("sonic");
  Json row = Json::object();
  std::istringstream lines(kTemplates.filled(table, numbers));
  for (std::string field, value; lines >> field >> value;)
    row[field] = value;
  return row;
}

std::string text_field(const Json& row, const char* field) {
  if (!row.is_object()) return {};
  const auto found = row.find(field);
  return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_own(std::string_view name) {
  return name.substr(0, kPrefix.size()) == kPrefix;
}

std::string_view site_name(std::string_view name) {
  return is_own(name) ? name.substr(kPrefix.size()) : name;
}

std::string site_map(const Json& config, const Json* port_maps, const std::string& field) {
  static const std::map<std::string, const char*> kTables = {
      {"dscp_to_tc_map", "DSCP_TO_TC_MAP"},
      {"tc_to_queue_map", "TC_TO_QUEUE_MAP"},
      {"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"},
      {"tc_to_dscp_map", "TC_TO_DSCP_MAP"}};
  if (port_maps == nullptr) return "";
  const auto name = text_field(*port_maps, field.c_str());
  const std::string site(site_name(name));
  const bool ours_alone = is_own(name) && find_row(config, kTables.at(field), site) == nullptr;
  return ours_alone ? "" : site;
}

std::optional<Range> range_of(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = number_of(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_of(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return Range{*first, *last};
}

Cover find_cover(const Json& config, std::string_view table, std::string_view port, int queue) {
  Cover cover;
  const auto found = config.find(std::string(table));
  if (found == config.end() || !found->is_object()) return cover;
  const std::string prefix = std::string(port) + "|";
  // Rows are sorted by key, so the rows of a port are adjacent.
  for (auto row = found->get_ref<const Json::object_t&>().lower_bound(prefix);
       row != found->get_ref<const Json::object_t&>().end(); ++row) {
    if (row->first.compare(0, prefix.size(), prefix) != 0) break;
    const auto range = range_of(std::string_view(row->first).substr(prefix.size()));
    if (range && range->holds(queue)) return {row->first, &row->second, *range};
  }
  return cover;
}

std::string apply_text(const Patch& patch) {
  Operations operations;
  for (const auto& table : patch.tables) {
    const Json rows = rows_of(patch, table);
    operations.add("add", path_of(table, ""), &rows);
  }
  for (const auto& row : patch.rows)
    if (!is_created(patch, row.table)) add_row(operations, row, row.before, row.after);
  return operations.take();
}

std::string rollback_text(const Patch& patch) {
  Operations operations;
  for (auto row = patch.rows.rbegin(); row != patch.rows.rend(); ++row)
    if (!is_created(patch, row->table)) add_row(operations, *row, row->after, row->before);
  // SONiC keeps no empty tables: a table that the patch created is removed as a whole.
  for (auto table = patch.tables.rbegin(); table != patch.tables.rend(); ++table) {
    const Json rows = rows_of(patch, *table);
    operations.add("test", path_of(*table, ""), &rows);
    operations.add("remove", path_of(*table, ""), nullptr);
  }
  return operations.take();
}

}  // namespace dlcp::fabric::sonic
