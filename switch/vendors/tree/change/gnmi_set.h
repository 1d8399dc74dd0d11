// A change as a gNMI Set request in JSON: for each row a path to delete, or a path and the tree
// that replaces its contents.
#pragma once

#include <string>
#include <vector>

#include "switch/vendors/tree/change/rows.h"

namespace dlcp::fabric::tree {

std::string gnmi_set(const JsonShape& shape, const std::vector<Row>& rows);

// Appends the text as a JSON string; fast if no character needs escaping.
void add_quoted(std::string& out, std::string_view text);

}  // namespace dlcp::fabric::tree
