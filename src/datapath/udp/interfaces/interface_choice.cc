// Applies the syntax of NCCL_SOCKET_IFNAME to a list of interfaces, and chooses interfaces if no
// names are given.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "datapath/name_selection.h"
#include "datapath/udp/interfaces/interfaces.h"

namespace dlcp::datapath {
namespace {

// In the order in which the groups are tried; see choose_interfaces().
enum class Group : std::uint8_t { kGlobal, kRoutedTo, kLinkLocal, kContainers, kNever };

bool is_container_network(const Interface& interface) {
  return is_container_link(interface.name) || interface.properties.is_inner_bridge;
}

// True if packets leave by other links.
bool carries_nothing(const InterfaceAddress& interface) {
  return interface.is_loopback || interface.kind == "dummy" || interface.kind == "vrf";
}

Group group_of(const Interface& interface) {
  if (interface.ip.is_loopback()) return Group::kNever;
  if (is_container_network(interface)) return Group::kContainers;
  if (interface.ip.is_link_scoped()) return Group::kLinkLocal;
  return carries_nothing(interface) ? Group::kRoutedTo : Group::kGlobal;
}

void take_over_uplinks(Interface& device, const std::vector<Interface>& all) {
  int speed = 0;
  std::size_t mtu = 0;
  for (const Interface& uplink : all) {
    if (carries_nothing(uplink) || is_container_network(uplink)) continue;
    speed += uplink.properties.speed_mbps;
    mtu = mtu == 0 ? uplink.properties.mtu : std::min(mtu, uplink.properties.mtu);
  }
  if (mtu == 0) return;  // no link leads out of this host
  device.properties.speed_mbps = speed;
  device.properties.mtu = mtu;
  device.is_routed_to = true;
}

// A host without any network, on which jobs of one host work, as with TCP.
bool has_only_loopback(const std::vector<Interface>& all) {
  return std::ranges::all_of(
      all, [](const Interface& interface) { return interface.ip.is_loopback(); });
}

Error nothing_chosen(std::string_view selection, const std::vector<InterfaceAddress>& existing) {
  std::vector<std::string> names;
  for (const InterfaceAddress& interface : existing)
    names.push_back(fmt::format("{} ({})", interface.name, to_string(interface.ip)));
  const std::string asked = selection.empty()
                                ? "no interface is usable"
                                : fmt::format("no usable interface matches \"{}\"", selection);
  return Error{ErrorCode::kInvalidUsage,
               fmt::format("{}; active interfaces with an address: {}", asked,
                           names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
               names.empty()
                   ? "bring an interface up, or run the container with a network"
                   : "select one of them (a prefix; \"=name\" for the exact name; \"^name\" for "
                     "all others)"};
}

}  // namespace

Result<std::vector<Interface>> choose_interfaces(std::string_view selection,
                                                 const std::vector<InterfaceAddress>& existing,
                                                 const std::string& sys_root) {
  const NameSelection wanted(selection);
  std::vector<Interface> all;
  for (const InterfaceAddress& address : existing)
    all.push_back(Interface{address, read_properties(address.name, sys_root)});
  const bool may_be_loopback = wanted.is_by_name() || has_only_loopback(all);
  std::vector<Interface> chosen;
  std::ranges::copy_if(all, std::back_inserter(chosen), [&](const Interface& interface) {
    return wanted.selects(interface.name) &&
           (may_be_loopback || group_of(interface) != Group::kNever);
  });
  if (chosen.empty()) return nothing_chosen(selection, existing);
  if (!wanted.is_by_name()) {
    const Group first = group_of(*std::ranges::min_element(chosen, {}, group_of));
    std::erase_if(chosen,
                  [first](const Interface& interface) { return group_of(interface) != first; });
  }
  for (Interface& interface : chosen)
    if (group_of(interface) == Group::kRoutedTo) take_over_uplinks(interface, all);
  return chosen;
}

Result<std::vector<Interface>> own_interfaces(std::string_view selection,
                                              std::optional<IpFamily> family) {
  const auto existing = list_interfaces(family);
  if (!existing) return existing.error();
  if (family && !NameSelection(selection).is_by_name()) {
    const auto is_network = [](const InterfaceAddress& one) { return !one.ip.is_loopback(); };
    const auto all = list_interfaces();
    const bool others = all.ok() && std::ranges::any_of(all.value(), is_network);
    if (existing.value().empty() ||
        (others && std::ranges::none_of(existing.value(), is_network))) {
      return Error{ErrorCode::kInvalidUsage,
                   fmt::format("no active interface has an {} address",
                               family == IpFamily::kV4 ? "IPv4" : "IPv6"),
                   "unset NCCL_SOCKET_FAMILY, or configure such an address"};
    }
  }
  return choose_interfaces(selection, existing.value());
}

std::string why_not_chosen(const InterfaceAddress& interface, std::string_view selection,
                           const std::string& sys_root) {
  const NameSelection wanted(selection);
  if (!wanted.selects(interface.name)) return "not selected by name";
  switch (group_of(Interface{interface, read_properties(interface.name, sys_root)})) {
    case Group::kNever:
      return "loopback";
    case Group::kContainers:
      return "of containers or virtual machines";
    case Group::kLinkLocal:
      return "only a link-local address";
    case Group::kRoutedTo:
      return "carries no packets itself";
    case Group::kGlobal:
      break;
  }
  return "not preferred";
}

std::string common_subnet(const InterfaceAddress& one, const InterfaceAddress& other) {
  if (one.ip.family != IpFamily::kV4 || other.ip.family != IpFamily::kV4) return {};
  const unsigned bits = std::min(one.prefix_bits, other.prefix_bits);
  if (bits == 0 || bits >= 32) return {};
  const auto network = [bits](const IpAddress& ip) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8 | ip.bytes[i];
    return value >> (32 - bits) << (32 - bits);
  };
  const std::uint32_t base = network(one.ip);
  if (base != network(other.ip)) return {};
  return fmt::format("{}.{}.{}.{}/{}", base >> 24, base >> 16 & 0xff, base >> 8 & 0xff, base & 0xff,
                     bits);
}

}  // namespace dlcp::datapath
