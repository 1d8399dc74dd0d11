// DLCP's DSCPs on ports that are not trusted: ACLs rewrite them as packets come in, so that the
// next switch never sees them. Their class is the mapping profile's business, not the ACL's.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "switch/vendors/cumulus/document.h"

namespace dlcp::fabric::cumulus {

std::string binding_of(const std::string& port, const std::string& acl);  // its leaf
// Is some port left with this ACL, after leaves of these paths have gone?
bool is_bound(const Leaves& running, const std::set<std::string>& gone, const std::string& acl);
// ACLs of the site's that see what comes in here.
std::vector<std::string> site_acls(const Leaves& running, const std::string& port);

}  // namespace dlcp::fabric::cumulus
