// A target that is data: switch/targets/NAME.json says how its configuration is read and which
// statements mean what, NAME.mustache what DLCP adds to it. Everything in this folder works for all
// of them.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "switch/model/site.h"
#include "switch/vendors/tree/pattern.h"
#include "switch/vendors/tree/statement.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::tree {

// Something of the site's that a port is pointed at and DLCP has a copy of: a classifier, a
// scheduler policy.
struct ObjectKind {
  std::string name;               // "classifier", as templates know it
  Pattern root;                   // its statements begin so; {name}
  std::vector<Pattern> bindings;  // a port has it; {port} {name}
  std::vector<Pattern> shared;    // every port without a binding has it; {name}
  std::vector<Pattern>
      left_out;  // after the root: not copied if {dscp}, {class} or {queue} is DLCP's
  std::vector<Pattern>
      renames;              // after the root: the object's own name, which the copy has its own of
  std::string tag;          // in names of copies, where two kinds have the same root
  bool ours_first = false;  // DLCP's statements stand before the site's: the first match counts
  bool required = false;    // every port has one of DLCP's, with or without one of the site's
};

struct Refusal {
  Pattern pattern;
  std::string why, hint;
};

// A number that is written, and what the target takes.
struct Range {
  Pattern pattern;  // {value}
  std::uint64_t min = 0, max = 0;
};

enum class Change { kReplace, kLines };  // a row is deleted and set anew, or changed line by line

struct Target {
  std::string os, title, suffix, comment;
  Reader reader;
  std::map<std::string, std::vector<Pattern>> facts;
  std::vector<Refusal> refusals;
  std::array<int, kDscpCount> unbound{},
      unlisted{};  // class of DSCPs without a classifier or a row
  std::map<std::string, int> class_names, queue_names;
  bool configured_is_used = true;  // a queue that the site sets something for is its own
  std::vector<ObjectKind> objects;
  std::vector<Pattern> scopes;  // what is one row of the change; those that others refer to first
  std::vector<Range> ranges;
  std::string no = "no ";
  Change change = Change::kReplace;
  std::map<std::string, std::string> templates;  // by section of NAME.mustache
  std::map<std::string, std::string> session;    // what apply.sh says to the switch
  std::vector<VerifyCommand> verify_switch, verify_port;
  std::map<std::string, std::vector<Pattern>> counters;  // of show commands: see verify.cc
  std::vector<std::string> notes;
  std::string checked_by;  // empty: nothing has checked the text
};

// Statements of the running configuration.
struct Document final : ImportedDocument {
  Statements statements;
  std::map<std::string, std::map<std::string, std::string>> bound;  // kind -> port -> site's name
  std::map<std::string, std::string> shared;  // kind -> what ports without one of their own have
  std::map<std::string, int> queue_of;        // names of queues and classes
  std::string classifier;                     // that most ports have; empty: none
  std::map<int, std::string> class_name,
      queue_name;                      // of a queue, as the site calls it
  int weighted_sequence = 1;           // of the scheduler that the site's weighted queues are in
  std::set<int> strict_sequences;      // taken by its strict ones
  std::set<std::string> pfc_profiles;  // names of what turns PFC on
};

bool is_own(std::string_view name);
std::string site_name(std::string_view name);  // "DLCP-2-SITE" -> "SITE"; "DLCP-1-none" -> ""
// 10, "af11", "cs5", "ef", "be", "001010"; nullopt: no DSCP.
std::optional<int> dscp_of(std::string_view word);

const std::vector<Target>& targets();
Checked<SiteConfig> import_config(const Target& target, const NamedText& running);
// Errors of what must not be imported; statements and bindings of the document are there already.
std::vector<Problem> doubts_of(const Target& target, const Document& document,
                               const NamedText& running);
std::string take_with(const Target& target);  // how to get a running configuration, for hints
Rendering render_switch(const Target& target, const SwitchPlan& plan);
// Counters as the target's show commands print them.
Checked<std::vector<Finding>> judge_captured(const Target& target, const SwitchPlan& plan,
                                             const NamedText& captured);

}  // namespace dlcp::fabric::tree
