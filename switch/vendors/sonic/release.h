// What one SONiC release's tools do: which tables its configuration updater (config apply-patch)
// lets be changed row by row, and which tables it has. The facts, with their sources, are in
// releases.json; its commands are in switch/targets/sonic.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "switch/vendors/vendor.h"

namespace dlcp::fabric::sonic {

class Release {
 public:
  // "202311"; "master", and what is no release at all, is the newest.
  Release(std::string_view version, std::string_view asic);

  // A row of the table may be added and removed by `config apply-patch`, or, with `changes`, get
  // other fields; `table_is_there`: the table has rows before. False: rows go with `config load`
  // and leave with a deletion, which nothing but our own guard watches.
  bool updater_takes(std::string_view table, bool table_is_there = true,
                     bool changes = false) const;
  bool has_table(std::string_view table) const;
  const std::string& name() const { return name_; }

 private:
  bool holds(const std::string& since) const { return since <= name_; }

  // What the updater asks of a table's rows; it takes all of tables that it has no rules for.
  struct Rules {
    bool rows = false;    // whole rows, whatever the ASIC
    bool fields = false;  // rows by their fields, on this ASIC
  };

  std::map<std::string, Rules, std::less<>> rules_;
  bool knows_asic_ = false;
  std::string name_;  // the newest listed release that is not newer than the one asked for
};

// The hash seed that orchagent sets for a DEVICE_METADATA type; nullopt: the
// default, 0, which is also that of types that nobody has listed.
std::optional<unsigned> hash_seed_of(std::string_view type);
// The ASIC behind an hwsku, as the capability table names it; "" where nobody
// has said.
std::string asic_of(std::string_view hwsku);

}  // namespace dlcp::fabric::sonic
