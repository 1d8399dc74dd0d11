// Reads a config_db.json: the class, queue and priority group of each DSCP, the priorities that PFC
// protects, and the size of the lossy pool. Rows of an earlier DLCP change are replaced by the
// site's rows that they were copied from.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "switch/vendors/sonic/document.h"
#include "switch/vendors/sonic/import/port_facts.h"
#include "switch/vendors/text/json_keys.h"
#include "switch/vendors/text/words.h"

namespace dlcp::fabric::sonic {
namespace {

class Importer {
 public:
  explicit Importer(const NamedText& running) : running_(running) {}

  Checked<SiteConfig> run() {
    Checked<SiteConfig> result;
    if (parse() && check_shape() && check_texts() && check_references() && check_ports() &&
        check_named()) {
      const Fault report = [this](const char* table, const std::string& key, std::string what,
                                  std::string seen, std::string expected, std::string hint) {
        fault(table, key, std::move(what), std::move(seen), std::move(expected), std::move(hint));
      };
      read_hardware(document_->config, site_, report);
      read_egress_rewrite(document_->config, site_, report);
      read_map_names();
      read_dscps();
      read_queues();
      read_pfc();
      read_buffers(document_->config, site_);
    }
    result.problems = std::move(problems_);
    if (!has_errors(result.problems)) {
      site_.source = running_.file;
      site_.imported = true;
      site_.document = document_;
      result.value = std::move(site_);
    }
    return result;
  }

 private:
  // Line of a row: the first occurrence of its key after the first occurrence of its table.
  int line_of(std::string_view table, std::string_view key = {}) const {
    const std::string_view text = running_.text;
    auto at = text.find(fmt::format("\"{}\"", table));
    if (at == std::string_view::npos) return 0;
    if (!key.empty()) {
      const auto row = text.find(fmt::format("\"{}\"", key), at);
      if (row != std::string_view::npos) at = row;
    }
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + at, '\n'));
  }

  void fault(std::string_view table, std::string_view key, std::string what, std::string seen = {},
             std::string expected = {}, std::string hint = {}) {
    problems_.push_back({Severity::kError, running_.file, line_of(table, key), std::move(what),
                         std::move(seen), std::move(expected), std::move(hint)});
  }
  void warn(std::string_view table, std::string_view key, std::string what, std::string hint) {
    problems_.push_back({Severity::kWarning,
                         running_.file,
                         line_of(table, key),
                         std::move(what),
                         {},
                         {},
                         std::move(hint)});
  }

  bool parse() {
    auto read = read_json(running_.file, running_.text);
    if (read.value) document_->config = std::move(*read.value);
    for (Problem& problem : read.problems) {
      if (problem.expected.empty()) problem.expected = "a config_db.json";
      problem.hint = "export it with: show runningconfiguration all > config_db.json";
      problems_.push_back(std::move(problem));
    }
    return !has_errors(problems_);
  }

  // Before 202205, a reference was written "[TABLE|row]".
  bool check_references() {
    for (const char* name : {"QUEUE", "PORT_QOS_MAP", "BUFFER_QUEUE", "BUFFER_PROFILE"})
      for (const auto& [key, row] : table(name).items())
        for (const auto& [field, value] : row.items()) {
          if (!value.is_string() || !value.get_ref<const std::string&>().starts_with("[")) continue;
          fault(name, key, "references have the form of releases before SONiC 202205",
                value.get<std::string>(), "only the name of a row",
                "upgrade the switch (its migration rewrites them), then import again");
          return false;
        }
    return true;
  }

  // Every value in config_db is text; other types come from manual edits or another system, and
  // would be overlooked.
  bool check_texts() {
    for (const char* name : {"QUEUE", "PORT_QOS_MAP", "SCHEDULER", "WRED_PROFILE", "BUFFER_QUEUE",
                             "BUFFER_PROFILE", "BUFFER_POOL", "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP",
                             "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_DSCP_MAP"})
      for (const auto& [key, row] : table(name).items())
        for (const auto& [field, value] : row.items())
          if (!value.is_string()) return not_text(name, key, field, value);
    for (const auto& [port, row] : table("PORT").items())
      if (const auto speed = row.find("speed"); speed != row.end() && !speed->is_string())
        return not_text("PORT", port, "speed", *speed);
    return true;
  }

  bool not_text(const char* name, const std::string& key, const std::string& field,
                const Json& value) {
    fault(name, key, fmt::format("{} of {}|{} is not text", field, name, key), value.dump(),
          "a string in quotes, like all values of config_db",
          "export it with: show runningconfiguration all > config_db.json");
    return false;
  }

  // Rows with a different spelling of the port's name would not be found.
  bool check_ports() {
    for (const char* name : {"QUEUE", "PORT_QOS_MAP", "BUFFER_QUEUE"})
      for (const auto& [key, row] : table(name).items()) {
        if (std::count(key.begin(), key.end(), '|') > 1) continue;
        std::istringstream ports(key.substr(0, key.find('|')));
        for (std::string port; std::getline(ports, port, ',');) {
          if (port == "global" || port == "CPU") continue;
          if (find_row(document_->config, "PORT", port) != nullptr) continue;
          fault(name, key, fmt::format("{}|{} belongs to a port that does not exist", name, key),
                port, "a row of PORT", "use the names of PORT, not aliases, or remove the row");
          return false;
        }
      }
    return true;
  }

  // A file with only some of its tables would look like a switch that lacks the others.
  bool check_named() {
    std::set<std::string> seen;  // "TABLE field name"; rows of many ports name the same row
    for (const char* name : {"QUEUE", "PORT_QOS_MAP", "BUFFER_QUEUE"})
      for (const auto& [key, row] : table(name).items())
        for (const auto& [field, value] : row.items()) {
          const auto text = value.is_string() ? value.get<std::string>() : "";
          if (text.empty() || text == "NULL") continue;
          const auto said = fmt::format("{} row {} {}", name, field, text);
          if (seen.insert(said).second && !is_there(said, field, name, key)) return false;
        }
    return true;
  }

  bool is_there(const std::string& said, const std::string& field, const char* name,
                const std::string& key) {
    for (const auto& [pattern, object] : limits().references) {
      const auto held = pattern.match(said);
      if (!held) continue;
      const auto row = object.filled(*held);
      const auto end = row.find(' ');
      const auto in = row.substr(0, end), named = row.substr(end + 1);
      if (find_row(document_->config, in, named) != nullptr) continue;
      fault(name, key, fmt::format("{}|{} names a {} that does not exist", name, key, field), named,
            "a row of " + in,
            "export the whole file: show runningconfiguration all > config_db.json");
      return false;
    }
    return true;
  }

  bool check_shape() {
    const Json& config = document_->config;
    if (!config.is_object()) {
      fault("", "", "the file's root is not an object of tables", config.type_name(), "object");
      return false;
    }
    for (const auto& [table, rows] : config.items()) {
      if (table == "asic0" || table == "localhost") {
        fault(table, "", "this is the configuration of a multi-ASIC system", table,
              "a switch with one ASIC",
              "leave this switch out: apply.sh and its patches support only one name space");
        return false;
      }
      if (!rows.is_object()) {
        fault(table, "", fmt::format("table {} is not an object of rows", table), rows.type_name(),
              "object");
        continue;
      }
      for (const auto& [key, row] : rows.items())
        if (!row.is_object())
          fault(table, key, fmt::format("row {}|{} is not an object of fields", table, key),
                row.type_name(), "object");
    }
    const Json* device = find_row(config, "DEVICE_METADATA", "localhost");
    if (device != nullptr && !text_field(*device, "asic_name").empty() &&
        !text_field(*device, "sub_role").empty())
      fault("DEVICE_METADATA", "asic_name", "this is one name space of a multi-ASIC system",
            text_field(*device, "asic_name"), "a switch with one ASIC",
            "leave this switch out: apply.sh and its patches support only one name space");
    if (!has_errors(problems_)) check_refused();
    if (table("PORT").empty())
      fault("PORT", "", "there is no PORT table", {}, "a whole config_db.json",
            "export it with: show runningconfiguration all > config_db.json");
    return !has_errors(problems_);
  }

  // The first row of each kind that the data rejects.
  void check_refused() {
    for (const tree::Refusal& one : limits().refused) {
      const auto name = words_of(one.pattern.text()).front();
      for (const auto& [key, row] : table(name.c_str()).items())
        if (const auto seen = refused_field(one, name, row); !seen.empty()) {
          if (one.warns) {
            warn(name, key, one.why, one.hint);
            break;
          }
          fault(name, key, tree::with_holes_filled(one.why, {{"key", key}}), seen, "none of it",
                one.hint);
          break;
        }
    }
  }

  static std::string refused_field(const tree::Refusal& one, const std::string& table,
                                   const Json& row) {
    for (const auto& [field, value] : row.items()) {
      const auto text = value.is_string() ? value.get<std::string>() : value.dump();
      if (one.pattern.match(fmt::format("{} row {} {}", table, field, text)))
        return field + " " + text;
    }
    return "";
  }

  const Json& table(const char* name) const {
    static const Json kEmpty = Json::object();
    const auto found = document_->config.find(name);
    return found == document_->config.end() || !found->is_object() ? kEmpty : *found;
  }

  // The map that most ports use; ports with another one are rejected if a change would affect them.
  std::string most_used(const char* field) const {
    std::map<std::string, int> uses;
    for (const auto& [port, row] : table("PORT_QOS_MAP").items()) {
      const auto name = site_map(document_->config, &row, field);
      if (!name.empty()) uses[name] += port == "global" ? 1 : 2;
    }
    const auto most = std::max_element(
        uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == uses.end() ? std::string() : most->first;
  }

  void read_map_names() {
    document_->dscp_map = most_used("dscp_to_tc_map");
    document_->queue_map = most_used("tc_to_queue_map");
    document_->group_map = most_used("tc_to_pg_map");
    if (document_->dscp_map.empty())
      warn("PORT_QOS_MAP", "", "no port has a dscp_to_tc_map: the site maps no DSCP on this switch",
           "check that QoS is configured: show runningconfiguration all");
  }

  // Calls `use` with (key, value) of a map's row if both are in range; reports anything else.
  template <class Use>
  void each_entry(const char* name, const std::string& key, int key_max, int value_max, Use use) {
    const Json* row = key.empty() ? nullptr : find_row(document_->config, name, key);
    if (row == nullptr) return;
    for (const auto& [from, to] : row->items()) {
      const int index = number_of(from).value_or(-1);
      const int value =
          to.is_string() ? number_of(to.template get<std::string>()).value_or(-1) : -1;
      if (index < 0 || index > key_max || value < 0 || value > value_max) {
        fault(name, key, fmt::format("{}|{} has an entry out of range", name, key),
              fmt::format("{}: {}", from, to.dump()),
              fmt::format("0..{} to \"0\"..\"{}\"", key_max, value_max));
        continue;
      }
      use(index, value);
    }
  }

  void read_dscps() {
    std::array<int, kTrafficClassesMax> uses{};
    site_.unmapped_class = 0;  // SAI's default: unmapped DSCPs have traffic class 0
    each_entry("DSCP_TO_TC_MAP", document_->dscp_map, kDscpCount - 1, kTrafficClassesMax - 1,
               [&](int dscp, int traffic_class) {
                 site_.dscp_to_class[dscp] = static_cast<std::uint8_t>(traffic_class);
                 ++uses[traffic_class];
               });
    for (const auto& traffic_class : site_.dscp_to_class)
      uses[0] += traffic_class ? 0 : 1;
    site_.default_class =
        static_cast<std::uint8_t>(std::max_element(uses.begin(), uses.end()) - uses.begin());
    site_.class_to_queue.fill(0);  // SAI's default (saiport.h)
    if (document_->queue_map.empty()) read_no_queue_map();
    each_entry("TC_TO_QUEUE_MAP", document_->queue_map, kTrafficClassesMax - 1, kQueueCount - 1,
               [&](int traffic_class, int queue) {
                 site_.class_to_queue[traffic_class] = static_cast<std::uint8_t>(queue);
               });
    each_entry("TC_TO_PRIORITY_GROUP_MAP", document_->group_map, kTrafficClassesMax - 1, 7,
               [](int, int) {});
  }

  // Without a map every class is in queue 0, where a site with several classes would hardly want
  // them: its intention is not guessed.
  void read_no_queue_map() {
    const auto& classes = site_.dscp_to_class;
    const auto other = std::find_if(classes.begin(), classes.end(), [](const auto& traffic_class) {
      return traffic_class.value_or(0) != 0;
    });
    if (other == classes.end()) return;
    fault("PORT_QOS_MAP", "",
          "ports map DSCPs to several classes but have no tc_to_queue_map, so all packets are in "
          "queue 0",
          fmt::format("DSCP {} with class {}", other - classes.begin(), **other),
          "a tc_to_queue_map of the site on its ports",
          "add a TC_TO_QUEUE_MAP (SONiC's own leads every class to the queue of its number), then "
          "import again");
  }

  void read_queues() {
    for (int q = 0; q < kQueueCount; ++q)
      site_.queues[q].queue = static_cast<std::uint8_t>(q);
    for (const auto& traffic_class : site_.dscp_to_class)
      if (traffic_class) site_.queues[*site_.class_to_queue[*traffic_class]].in_use = true;
    for (const auto& [key, row] : table("QUEUE").items()) {
      const auto bar = key.find('|');
      const auto range = range_of(bar == std::string::npos ? "" : key.substr(bar + 1));
      if (!range || range->last > 63) {
        fault("QUEUE", key, fmt::format("QUEUE|{} is not PORT|INDEX", key), key, "Ethernet0|3");
        continue;
      }
      for (int q = range->first; q <= std::min(range->last, kQueueCount - 1); ++q) {
        read_scheduler(site_.queues[q], text_field(row, "scheduler"));
        const auto wred = text_field(row, "wred_profile");
        if (!wred.empty() && !is_own(wred)) site_.queues[q].configured = true;
      }
    }
  }

  void read_scheduler(SiteQueue& queue, const std::string& name) {
    if (name.empty() || is_own(name) || !queue.name.empty()) return;
    const Json* row = find_row(document_->config, "SCHEDULER", name);
    if (row == nullptr) return;  // "NULL"
    queue.name = name;
    queue.configured = true;
    queue.strict = text_field(*row, "type") == "STRICT";
    const auto weight = number_of(text_field(*row, "weight"));
    if (weight && !queue.strict) queue.weight = static_cast<unsigned>(*weight);
    const auto peak = text_field(*row, "pir");
    if (!peak.empty() && peak.size() < 16 &&
        peak.find_first_not_of("0123456789") == std::string::npos)
      queue.shaped_bits_per_second = std::stoull(peak) * 8;
  }

  void read_pfc() {
    std::array<int, kQueueCount> queue_of{};
    for (int p = 0; p < kQueueCount; ++p)
      queue_of[p] = p;
    for (const auto& [port, row] : table("PORT_QOS_MAP").items()) {
      const auto map = text_field(row, "pfc_to_queue_map");
      each_entry("MAP_PFC_PRIORITY_TO_QUEUE", map, 7, kQueueCount - 1,
                 [&](int priority, int queue) { queue_of[priority] = queue; });
      const auto enabled = text_field(row, "pfc_enable");
      for (std::size_t at = 0; at < enabled.size(); at += 2) {
        const int priority = enabled[at] - '0';
        if (priority < 0 || priority > 7 || (at + 1 < enabled.size() && enabled[at + 1] != ',')) {
          fault("PORT_QOS_MAP", port, fmt::format("pfc_enable of {} is not a list", port), enabled,
                "priorities 0..7 with commas, as in 3,4");
          break;
        }
        site_.pfc_priorities |= static_cast<std::uint8_t>(1u << priority);
        auto& queue = site_.queues[queue_of[priority]];
        queue.lossless = queue.in_use = true;
      }
    }
  }

  const NamedText& running_;
  std::shared_ptr<Document> document_ = std::make_shared<Document>();
  SiteConfig site_;
  std::vector<Problem> problems_;
};

}  // namespace

Checked<SiteConfig> import_config(const NamedText& running) {
  return Importer(running).run();
}

}  // namespace dlcp::fabric::sonic
