// A target's rules for its statements beyond their meaning: the objects that ports refer to,
// statements that are rejected, the scope of one row of a change, statements that must accompany
// others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "switch/vendors/tree/statement/pattern.h"

namespace dlcp::fabric::tree {

struct Refusal {
  Pattern pattern;
  std::string why, hint;
  std::optional<Pattern> but;     // statements of the pattern that are accepted
  std::optional<Pattern> beside;  // refused only if the configuration has this, same {name}
  bool unless_named_so = false;   // accepted if {id} is {port} or "{port}.N"
  bool warns = false;             // a warning at the first statement, and no error
};

// The system's default for a statement that one of its objects lacks.
struct Implied {
  std::string text;          // text after the root
  bool usual_alone = false;  // only for the object that ports without a binding use
  std::string unless;        // not if the object has this statement
};

// A statement that a copy of a site's object must have: one of these patterns, with this text.
struct Requirement {
  std::vector<Pattern> patterns;  // after the root
  std::string text;               // added to the copy if the site does not state it
  std::string why, hint;          // of the error if the site states another value; {name}
  std::string note;               // if the copy got it; {name}
};

// A kind of site object that ports refer to and DLCP copies: a classifier, a scheduler policy.
struct ObjectKind {
  std::string name;               // "classifier", the name in templates
  Pattern root;                   // prefix of its statements; {name}
  std::vector<Pattern> bindings;  // of a port to the object; {port} {name}
  std::vector<Pattern> shared;    // used by every port without a binding; {name}
  std::vector<Pattern>
      left_out;  // after the root: not copied if {dscp}, {class} or {queue} is DLCP's
  std::vector<Pattern>
      renames;      // after the root: contain the object's own name, which differs in the copy
  std::string tag;  // in names of copies, if two kinds have the same root
  bool ours_first = false;  // DLCP's statements precede the site's: the first match applies
  bool required = false;    // every port has one of DLCP's, whether or not the site has one
  bool classifies = false;  // it determines the treatment of the port's DSCPs
  std::vector<Requirement> requirements;
  std::vector<Refusal> refused;  // after the root: not allowed in a copy
  std::string title;             // in messages
  std::string usual;             // object of ports without a binding, whatever is configured
  std::vector<Implied> implied;
  bool idle_left_out = false;  // of {queue} in left_out, also queues that no DSCP leads to
  std::string idle_note;       // of these {queues} of {name}; empty: no note
  bool copied = true;          // false: objects of DLCP in addition to the site's, such as ACLs
};

// A number in statements, and the target's range for it.
struct Range {
  Pattern pattern;  // {value}
  std::int64_t min = 0, max = 0;
  std::string words;  // "|a|b|": one of these words is also valid; "*": any word
};

// Maximum of the sum of {value} over statements whose other holes are all equal.
struct Sum {
  Pattern pattern;
  std::uint64_t max = 0;
  std::string why, hint;
};

enum class Change {
  kReplace,        // a row is deleted and set again
  kLines,          // line by line: old lines are removed, new ones added
  kOverwrite,      // a new value overwrites the old one; a row is removed by its scope
  kOverwriteLine,  // the same, but a row is removed by its whole line
};

// The scope of one row of the change.
struct Scope {
  Pattern pattern;
  Change change = Change::kReplace;
  bool hitless = false;
  std::string reloads_before;  // before this release, the system restarts its forwarding
};

// A word that sites use in one of several ways: the first way seen in the configuration, else that
// of the ASIC, else `otherwise`. Templates refer to it by its name.
struct Word {
  std::vector<std::pair<Pattern, std::string>> seen;          // holes of the pattern are filled in
  std::vector<std::pair<std::string, std::string>> asics;     // prefix of the ASIC's name
  std::vector<std::pair<std::string, std::string>> releases;  // first release; the last match
  std::string otherwise;
};

struct Note {
  std::string text;            // {WORD} as in Target::words
  std::string given, missing;  // only if the import has, or lacks, this fact; "sprays": a feature
  bool warns = true;
  std::optional<Pattern> on_remarked;  // once for each match on untrusted ports
};

// Statements in a separate file, for an operator to apply by hand, as their values are uncertain.
struct ByHand {
  std::string file, set, unset, head;
};

}  // namespace dlcp::fabric::tree
