// Which host of an order this is, by name or by the addresses of its interfaces.
#pragma once

#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "util/result.h"

namespace dlcp::cli {

// Names that this host goes by: what the launcher calls it, its own name, that up to the first dot;
// then its addresses.
std::vector<std::string> names_of_this_host();
// `name` where the user says it, else the first of the names above that the fabric knows.
Result<int> find_this_host(const fabric::Fabric& fabric, const std::string& name);

}  // namespace dlcp::cli
