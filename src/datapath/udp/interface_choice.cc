// The grammar of NCCL_SOCKET_IFNAME over a list of interfaces.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "datapath/name_selection.h"
#include "datapath/udp/interfaces.h"

namespace dlcp::datapath {
namespace {

bool is_last_resort(const Interface& interface) {
  return interface.properties.is_bridge || interface.name.starts_with("docker");
}

Error nothing_chosen(std::string_view selection, const std::vector<InterfaceAddress>& existing) {
  std::vector<std::string> names;
  for (const InterfaceAddress& interface : existing)
    names.push_back(fmt::format("{} ({})", interface.name, to_string(interface.ip)));
  const std::string asked = selection.empty()
                                ? "no interface other than loopback is usable"
                                : fmt::format("no usable interface matches \"{}\"", selection);
  return Error{
      ErrorCode::kInvalidUsage,
      fmt::format("{}; up and with an address: {}", asked,
                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
      "name one of them (a prefix, \"=name\" for the exact name, \"^name\" for all others)"};
}

}  // namespace

Result<std::vector<Interface>> choose_interfaces(std::string_view selection,
                                                 const std::vector<InterfaceAddress>& existing,
                                                 const std::string& sys_root) {
  const NameSelection wanted(selection);
  const bool by_name = wanted.is_by_name();
  std::vector<Interface> chosen;
  for (const InterfaceAddress& address : existing)
    if (wanted.selects(address.name) && (by_name || !address.is_loopback))
      chosen.push_back(Interface{address, read_properties(address.name, sys_root)});
  if (!by_name && !std::all_of(chosen.begin(), chosen.end(), is_last_resort))
    std::erase_if(chosen, is_last_resort);
  if (chosen.empty()) return nothing_chosen(selection, existing);
  return chosen;
}

}  // namespace dlcp::datapath
