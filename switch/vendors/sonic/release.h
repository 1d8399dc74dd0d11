// Properties of a SONiC release: its tables, and those whose rows its configuration updater (config
// apply-patch) can change. The facts, with their sources, are in releases.json; its commands are in
// switch/targets/sonic.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "switch/vendors/vendor.h"

namespace dlcp::fabric::sonic {

class Release {
 public:
  // "202311"; "master", and a text that is not a release, count as the newest.
  Release(std::string_view version, std::string_view asic);

  // Whether `config apply-patch` can add and remove a row of the table or, with `changes`, change
  // its fields. `table_is_there`: the table has rows before the change. False: `config load` adds
  // the rows and a deletion removes them; only DLCP's guard checks them.
  bool updater_takes(std::string_view table, bool table_is_there = true,
                     bool changes = false) const;
  bool has_table(std::string_view table) const;
  const std::string& name() const { return name_; }

 private:
  bool holds(const std::string& since) const { return since <= name_; }

  // The updater's rules for a table; it accepts changes to tables without rules.
  struct Rules {
    bool rows = false;    // whole rows, on any ASIC
    bool fields = false;  // single fields of rows, on this ASIC
  };

  std::map<std::string, Rules, std::less<>> rules_;
  bool knows_asic_ = false;
  std::string name_;  // the newest listed release that is not newer than the requested one
};

// The hash seed that orchagent sets for a DEVICE_METADATA type; nullopt: the default, 0, which also
// applies to unlisted types.
std::optional<unsigned> hash_seed_of(std::string_view type);
// The ASIC of an hwsku, as the capability table names it; "" if it is not known.
std::string asic_of(std::string_view hwsku);

}  // namespace dlcp::fabric::sonic
