#include "cli/order/this_host.h"

#include <fmt/format.h>

#include <cstdlib>

#include "datapath/udp/interfaces/interfaces.h"
#include "util/system/host_name.h"

namespace dlcp::cli {

std::vector<std::string> names_of_this_host() {
  std::vector<std::string> names;
  if (const char* const slurm = std::getenv("SLURMD_NODENAME")) names.emplace_back(slurm);
  if (const std::string own = host_name(); !own.empty()) {
    names.push_back(own);
    const std::string first = names.back().substr(0, names.back().find('.'));
    if (first != names.back() && !first.empty()) names.push_back(first);
  }
  for (const auto family : {datapath::IpFamily::kV4, datapath::IpFamily::kV6}) {
    const auto interfaces = datapath::list_interfaces(family);
    if (!interfaces) continue;
    for (const auto& interface : interfaces.value())
      if (!interface.is_loopback) names.push_back(datapath::to_string(interface.ip));
  }
  return names;
}

Result<int> find_this_host(const fabric::Fabric& fabric, const std::string& name) {
  const auto names = name.empty() ? names_of_this_host() : std::vector<std::string>{name};
  for (const std::string& one : names)
    if (const int host = fabric::find_host(fabric, one); host >= 0) return host;
  return Error{ErrorCode::kInvalidUsage,
               fmt::format("the order contains no host called {}", fmt::join(names, ", ")),
               "give this host's name in the order with --host"};
}

}  // namespace dlcp::cli
