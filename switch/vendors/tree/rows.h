// A change of a target's configuration row by row: a row is everything below one scope, before and
// after. From rows come the text that makes the change, the text that takes it back, and what
// guard.py compares.
#pragma once

#include <string>
#include <vector>

#include "switch/vendors/tree/target.h"

namespace dlcp::fabric::tree {

struct Row {
  std::string scope;
  std::vector<std::string> before, after;  // statements in their order; empty: there is none
  Change change = Change::kReplace;
  bool hitless = false;
};

struct Patch {
  std::string name;
  std::vector<Row> rows;
};

// Text that turns `before` of every row into `after`, in the target's own syntax.
std::string change_text(const Target& target, const std::vector<Row>& rows);
std::vector<Row> reversed(std::vector<Row> rows);
// The rows and how to read a running configuration, for guard.py.
std::string guard_text(const Target& target, const std::vector<Row>& rows);

}  // namespace dlcp::fabric::tree
