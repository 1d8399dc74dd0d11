// Finds this host in an order, by name or by the addresses of its interfaces.
#pragma once

#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "util/result.h"

namespace dlcp::cli {

// Names of this host: the launcher's name for it, its host name, the host name up to the first dot;
// then its addresses.
std::vector<std::string> names_of_this_host();
// `name` if the user gives it, else the first of the names above that is in the fabric.
Result<int> find_this_host(const fabric::Fabric& fabric, const std::string& name);

}  // namespace dlcp::cli
