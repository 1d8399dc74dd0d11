// A change of a target's configuration as rows: a row is everything below one scope, before and
// after. Rows give the text that makes the change, the text that reverts it, and the input of
// guard.py.
#pragma once

#include <string>
#include <vector>

#include "switch/vendors/tree/target/target.h"

namespace dlcp::fabric::tree {

struct Row {
  std::string scope;
  std::vector<std::string> before, after;  // statements in order; empty: the row does not exist
  Change change = Change::kReplace;
  bool hitless = false;
};

struct Patch {
  std::string name;
  std::vector<Row> rows;
};

// Text that changes every row from `before` to `after`, in the target's own syntax.
std::string change_text(const Target& target, const std::vector<Row>& rows);
std::vector<Row> reversed(std::vector<Row> rows);
// The rows and the syntax of a running configuration, for guard.py.
std::string guard_text(const Target& target, const std::vector<Row>& rows);

}  // namespace dlcp::fabric::tree
