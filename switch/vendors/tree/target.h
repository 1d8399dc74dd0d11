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
#include "switch/vendors/sections.h"
#include "switch/vendors/shows.h"
#include "switch/vendors/tree/pattern_index.h"
#include "switch/vendors/tree/rules.h"
#include "switch/vendors/tree/statement.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::tree {

struct Target {
  std::string os, title, suffix, comment;
  std::string unverified_hint;  // where what no grammar has checked can be tried
  std::size_t indent = 2;       // of blocks; with what stands before and after those inside
  std::string separator;
  Reader reader, template_reader;  // of running configurations, and of what templates make
  std::map<std::string, std::vector<Pattern>> facts;
  std::vector<Refusal> refusals;
  std::vector<Refusal> port_refusals;  // {port}: of ports that DLCP takes
  std::array<int, kDscpCount> unbound{},
      unlisted{};  // class of DSCPs without a classifier or a row
  std::map<std::string, int> class_names, queue_names;
  bool ports_are_listed = false;                   // a running configuration has every port
  std::string ports_begin;                         // names of what is no port begin otherwise
  std::string lag_prefix;                          // of names of link aggregates
  std::map<std::string, std::string> name_speeds;  // what names begin with -> "100G"
  std::vector<int> doubtful_classes;     // whose queue platforms differ in, if nothing says it
  std::vector<int> usual_rewriting;      // class -> DSCP, where only rewriting itself is on
  bool round_robin_binds_below = false;  // a queue is strict if none from it on is round-robin
  std::map<std::string, Word> words;
  bool configured_is_used = true;  // a queue that the site sets something for is its own
  // Where classifiers go by DSCPs only if they say so: what they say then, and where VLAN
  // priorities count besides.
  std::vector<std::string> dscp_trusts, tag_trusts;
  std::string usual_rewriter;   // the object that rewrites on ports without a binding
  bool short_names = false;     // copies are "DLCP-SITE" and "DLCP2-SITE", not "DLCP-1-SITE"
  bool leaf_rows = false;       // every statement is a row of its own: all but its last word
  bool ranges_are_all = false;  // a statement that no range describes is refused
  std::vector<ObjectKind> objects;
  std::vector<std::pair<Pattern, Pattern>> refers;  // a statement, and what has to be there then
  std::vector<Scope> scopes;                        // those that others refer to first
  std::vector<Range> ranges;
  std::vector<Sum> sums;
  ByHand by_hand;
  std::string scripts;  // whose apply.sh, rollback.sh and guard.py; empty: those of all
  std::string no = "no ";
  Sections templates;                          // NAME.mustache
  std::map<std::string, std::string> session;  // what apply.sh says to the switch
  Shows shows;
  std::vector<Note> notes;
  std::string declared_note;  // of a site that was not imported
  std::string take_with;      // how to get a running configuration; empty: by what apply.sh says
  std::string checked_by;     // empty: nothing has checked the text

  // Of the patterns above, made of them once; ids of the other indices are places in their lists.
  std::vector<Meaning> meanings;
  PatternIndex meaning_index, refusal_index, port_refusal_index, scope_index;
};

// Statements of the running configuration.
struct Document final : ImportedDocument {
  Statements statements;
  std::map<std::string, std::map<std::string, std::string>> bound;  // kind -> port -> site's name
  std::map<std::string, std::string> shared;  // kind -> what ports without one of their own have
  std::map<std::string, int> queue_of;        // names of queues and classes
  std::string classifier;                     // that most ports have; empty: none
  bool by_dscp = true;                        // it goes by DSCPs
  bool by_tag = false;                        // and, of tagged packets, by VLAN priorities
  std::map<int, std::string> class_name,
      queue_name;                      // of a queue, as the site calls it
  int weighted_sequence = 1;           // of the scheduler that the site's weighted queues are in
  std::set<int> strict_sequences;      // taken by its strict ones
  std::set<std::string> pfc_profiles;  // names of what turns PFC on
  std::set<std::string> facts;         // kinds of facts that are there
  std::set<int> classes;               // whose queue is said
  std::map<std::string, std::string> words;  // as the site uses them: Target::words
};

bool is_own(std::string_view name);
// "DLCP-2-SITE" -> "SITE"; "DLCP-1-none" -> "". Of short names: "DLCP2-SITE" -> "SITE".
std::string site_name(const Target& target, std::string_view name);
// Which of the target's scopes the statement is in, and how much of it that covers; scopes.size():
// none.
std::size_t rank_of(const Target& target, std::string_view statement, std::size_t& taken);
// Statements of what the system does where the site's objects, and those that ports without one
// have, say nothing.
Statements implied_statements(const Target& target, const Statements& said);
// 10, "af11", "CS5", "ef", "be", "nc1", "001010"; nullopt: no DSCP.
std::optional<int> dscp_of(std::string_view name);

const std::vector<Target>& targets();
Checked<SiteConfig> import_config(const Target& target, const NamedText& running);
// Errors of what must not be imported; statements and bindings of the document are there already.
std::vector<Problem> doubts_of(const Target& target, const Document& document,
                               const NamedText& running);
// What its holes hold, if the statement is refused; `all`: the configuration that it is in.
std::optional<Captures> refused_by(const Refusal& row, const Statement& statement,
                                   const Statements& all);
std::string take_with(const Target& target);  // how to get a running configuration, for hints
Rendering render_switch(const Target& target, const SwitchPlan& plan);

}  // namespace dlcp::fabric::tree
