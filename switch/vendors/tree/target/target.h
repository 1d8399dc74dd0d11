// A target described by data: switch/targets/NAME.json defines how its configuration is read and
// what its statements mean, NAME.mustache what DLCP adds to it. The code of this folder works for
// all such targets.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "switch/model/site/site.h"
#include "switch/vendors/counters/shows.h"
#include "switch/vendors/sections.h"
#include "switch/vendors/tree/statement/pattern_index.h"
#include "switch/vendors/tree/statement/statement.h"
#include "switch/vendors/tree/target/rules.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::tree {

struct Target {
  std::string os, title, suffix, comment;
  std::string unverified_hint;  // where to test text that no grammar has checked
  std::size_t indent = 2;       // of blocks; includes the text before and after nested lines
  std::string separator;
  Reader reader, template_reader;  // for running configurations, and for the output of templates
  std::map<std::string, std::vector<Pattern>> facts;
  std::vector<Refusal> refusals;
  std::vector<Refusal> port_refusals;  // {port}: of ports that DLCP uses
  std::array<int, kDscpCount> unbound{},
      unlisted{};  // class of DSCPs without a classifier or a row
  std::map<std::string, int> class_names, queue_names;
  bool ports_are_listed = false;                   // a running configuration lists every port
  std::string ports_begin;                         // names with another prefix are not ports
  std::string lag_prefix;                          // prefix of names of link aggregates
  std::map<std::string, std::string> name_speeds;  // prefix of port names -> "100G"
  std::vector<int> doubtful_classes;     // queue depends on the platform, unless configured
  std::vector<int> lossless_classes;     // of the system, lossless unless the site has its own
  std::vector<int> usual_rewriting;      // class -> DSCP, if only rewriting itself is enabled
  bool depths_are_percent = false;       // of the limit, in whole numbers
  std::string lossy_pool;                // the buffer pool of all classes that are in no other one
  bool round_robin_binds_below = false;  // strict only if no queue from it up is round-robin
  bool strict_is_highest = false;        // strict queues must be above the weighted ones
  std::map<std::string, Word> words;
  bool configured_is_used = true;  // a queue that the site configures belongs to the site
  // For targets whose classifiers use DSCPs only if configured: the statements that enable it, and
  // those that also enable VLAN priorities.
  std::vector<std::string> dscp_trusts, tag_trusts;
  std::string usual_rewriter;   // the object that rewrites on ports without a binding
  bool short_names = false;     // copies are named "DLCP-SITE" and "DLCP2-SITE", not "DLCP-1-SITE"
  bool leaf_rows = false;       // every statement is a separate row: all but its last word
  bool ranges_are_all = false;  // a statement without a matching range is refused
  std::vector<ObjectKind> objects;
  std::vector<std::pair<Pattern, Pattern>> refers;  // a statement, and one that it requires
  std::vector<Scope> scopes;                        // scopes that others refer to come first
  std::vector<Range> ranges;
  std::vector<Sum> sums;
  ByHand by_hand;
  std::string scripts;  // owner of apply.sh, rollback.sh and guard.py; empty: the common ones
  std::string no = "no ";
  Sections templates;                          // NAME.mustache
  std::map<std::string, std::string> session;  // apply.sh's commands on the switch
  Shows shows;
  std::vector<Note> notes;
  std::string declared_note;  // for a site that was not imported
  std::string
      export_command;      // how to get a running configuration; empty: with apply.sh's commands
  std::string checked_by;  // empty: no grammar has checked the text

  // Derived from the patterns above; ids of the other indices are positions in their lists.
  std::vector<Meaning> meanings;
  PatternIndex meaning_index, refusal_index, port_refusal_index, scope_index;
};

// Statements of the running configuration.
struct Document final : ImportedDocument {
  Statements statements;
  std::map<std::string, std::map<std::string, std::string>> bound;  // kind -> port -> site's name
  std::map<std::string, std::string> shared;  // kind -> object of ports without a binding
  std::map<std::string, int> queue_of;        // names of queues and classes
  std::string classifier;                     // of most ports; empty: none
  bool by_dscp = true;                        // it uses DSCPs
  bool by_tag = false;                        // it also uses VLAN priorities of tagged packets
  std::map<int, std::string> class_name,
      queue_name;                        // of a queue, as the site names it
  std::optional<int> weighted_sequence;  // of the scheduler that serves the site's weighted queues
  std::set<int> strict_sequences;        // used by its strict schedulers
  std::set<std::string> pfc_profiles;    // names of profiles that enable PFC
  std::set<std::string> facts;           // kinds of facts found
  std::set<int> classes;                 // classes whose queue is configured
  std::map<std::string, std::string> words;  // as the site uses them: Target::words
};

bool is_own(std::string_view name);
// "DLCP-2-SITE" -> "SITE"; "DLCP-1-none" -> "". Of short names: "DLCP2-SITE" -> "SITE".
std::string site_name(const Target& target, std::string_view name);
// The target's scope that contains the statement, and the length of its match; scopes.size(): none.
std::size_t rank_of(const Target& target, std::string_view statement, std::size_t& taken);
// Statements that apply by default where the site's objects, and those of ports without a binding,
// state nothing.
Statements implied_statements(const Target& target, const Statements& said);
// 10, "af11", "CS5", "ef", "be", "nc1", "001010"; nullopt: not a DSCP.
std::optional<int> dscp_of(std::string_view name);

const std::vector<Target>& targets();
Checked<SiteConfig> import_config(const Target& target, const NamedText& running);
// Reasons to reject an import, as errors; the document's statements and bindings must be filled.
std::vector<Problem> import_faults(const Target& target, const Document& document,
                                   const NamedText& running);
// The values of the row's holes if it refuses the statement; `all`: the whole configuration.
std::optional<Captures> refused_by(const Refusal& row, const Statement& statement,
                                   const Statements& all);
std::string export_hint(const Target& target);  // how to get a running configuration, for hints
Rendering render_switch(const Target& target, const SwitchPlan& plan);

}  // namespace dlcp::fabric::tree
