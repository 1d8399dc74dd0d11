// What a target's data says of its statements beyond what they mean: which objects ports are
// pointed at, what is refused, what one row of a change is, what must be said beside it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "switch/vendors/tree/pattern.h"

namespace dlcp::fabric::tree {

struct Refusal {
  Pattern pattern;
  std::string why, hint;
  std::optional<Pattern> but;     // statements of the pattern that are accepted
  std::optional<Pattern> beside;  // only if the configuration has this, too, with the same {name}
  bool unless_named_so = false;   // {id} is {port}, or "{port}.N": then it is accepted
};

// What a system does where one of its objects says nothing of it.
struct Implied {
  std::string text;          // after the root
  bool usual_alone = false;  // of the object that ports without one have
  std::string unless;        // nor says this
};

// What a copy of a site's object has to say: one statement of these, and with this text.
struct Requirement {
  std::vector<Pattern> patterns;  // after the root
  std::string text;               // what the copy gets where the site says nothing of it
  std::string why, hint;          // where the site says something else; {name}
  std::string note;               // where the copy got it; {name}
};

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
  bool classifies = false;  // it sees how the port's DSCPs are treated, besides its queues
  std::vector<Requirement> requirements;
  std::vector<Refusal> refused;  // after the root: what a copy must not have
  std::string title;             // in messages
  std::string usual;             // what ports without a binding have, whatever is configured
  std::vector<Implied> implied;
  bool idle_left_out = false;  // of {queue} in left_out, also those that nothing leads to
  std::string idle_note;       // of these {queues} of {name}; empty: nothing is to be said
  bool copied = true;  // false: objects of DLCP's that ports have beside the site's, as ACLs
};

// A number that is written, and what the target takes.
struct Range {
  Pattern pattern;  // {value}
  std::int64_t min = 0, max = 0;
  std::string words;  // "|a|b|": one of these instead; "*": anything
};

// What the {value}s of statements that have all other holes alike add up to at most.
struct Sum {
  Pattern pattern;
  std::uint64_t max = 0;
  std::string why, hint;
};

enum class Change {
  kReplace,        // a row is deleted and set anew
  kLines,          // line by line: what goes is taken away, what comes is added
  kOverwrite,      // a new value takes the place of the old one; a row that goes is taken away by
                   // its scope
  kOverwriteLine,  // the same, taken away by the whole line
};

// What is one row of the change.
struct Scope {
  Pattern pattern;
  Change change = Change::kReplace;
  bool hitless = false;
  std::string reloads_before;  // the system restarts its forwarding, before this release
};

// A word that the site uses in one of several ways: the one that it is seen to use first, else that
// of the ASIC, else `otherwise`. Templates know it by its name.
struct Word {
  std::vector<std::pair<Pattern, std::string>> seen;          // holes of the pattern are filled in
  std::vector<std::pair<std::string, std::string>> asics;     // what the ASIC's name begins with
  std::vector<std::pair<std::string, std::string>> releases;  // since when; the last that holds
  std::string otherwise;
};

struct Note {
  std::string text;            // {WORD} as in Target::words
  std::string given, missing;  // only if the import has, or has not, this fact; "sprays": a feature
  bool warns = true;
  std::optional<Pattern> on_remarked;  // once for each that ports which are not trusted have
};

// What is written apart, for somebody to run by hand: its values are not known well enough.
struct ByHand {
  std::string file, set, unset, head;
};

}  // namespace dlcp::fabric::tree
