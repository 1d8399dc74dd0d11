// A change as a gNMI Set request in JSON: a path to delete, or a path and the tree that takes its
// place, for each row.
#pragma once

#include <string>
#include <vector>

#include "switch/vendors/tree/rows.h"

namespace dlcp::fabric::tree {

std::string gnmi_set(const JsonShape& shape, const std::vector<Row>& rows);

// As JSON has it; most text needs nothing but the quotes.
void add_quoted(std::string& out, std::string_view text);

}  // namespace dlcp::fabric::tree
