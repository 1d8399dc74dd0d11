// The files of a change to a configuration that is a tree of operations (Syntax::kOperations): for
// each patch a YAML of set values and a list of unset paths, in both directions, and the input of
// guard.py.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switch/vendors/tree/change/rows.h"

namespace dlcp::fabric::tree {

// "qos mapping P trust" -> "qos/mapping/P/trust"
std::string slashed(std::string path);

// Files of one patch, whose rows are single statements.
void write_operations(const Target& target, const Patch& patch, Rendering& out);
// Commands for an operator to run, and their reverse, for paths where `running` differs.
void write_by_hand(const ByHand& by_hand, const Statements& wanted,
                   const std::map<std::string, std::string>& running, Rendering& out);
// A YAML list with one `set` operation. `leaves`: by slashed path.
std::string yaml_of(const std::map<std::string, std::string>& leaves);

}  // namespace dlcp::fabric::tree
