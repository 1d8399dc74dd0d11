// The files of a change where a configuration is a tree of operations (Syntax::kOperations): per
// patch a YAML of what is set and a list of what is unset, both ways, and what guard.py compares.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switch/vendors/tree/rows.h"

namespace dlcp::fabric::tree {

// "qos mapping P trust" -> "qos/mapping/P/trust"
std::string slashed(std::string path);

// Files of one patch; its rows are of single statements.
void write_operations(const Target& target, const Patch& patch, Rendering& out);
// Commands for somebody to run, and their way back, where `running` (by path) says otherwise.
void write_by_hand(const ByHand& by_hand, const Statements& wanted,
                   const std::map<std::string, std::string>& running, Rendering& out);
// As a list of one `set` operation; by slashed path.
std::string yaml_of(const std::map<std::string, std::string>& leaves);

}  // namespace dlcp::fabric::tree
