#include "switch/vendors/cumulus/marks.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlcp::fabric::cumulus {

std::string binding_of(const std::string& port, const std::string& acl) {
  return fmt::format("interface/{}/acl/{}/inbound", port, acl);
}

bool is_bound(const Leaves& running, const std::set<std::string>& gone, const std::string& acl) {
  return std::any_of(running.begin(), running.end(), [&](const auto& leaf) {
    const std::string& path = leaf.first;
    return path.starts_with("interface/") && path.find("/acl/" + acl + "/") != std::string::npos &&
           gone.count(path) == 0;
  });
}

std::vector<std::string> site_acls(const Leaves& running, const std::string& port) {
  std::vector<std::string> names;
  const auto root = fmt::format("interface/{}/acl/", port);
  for (const auto& [path, value] : leaves_from(running, root)) {
    const auto name = name_at(path, root.size());
    const bool inbound = path.compare(root.size() + name.size(), 8, "/inbound") == 0;
    if (inbound && !is_own(name)) names.push_back(name);
  }
  return names;
}

}  // namespace dlcp::fabric::cumulus
