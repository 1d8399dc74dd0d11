// The host's network interfaces as devices to offer to NCCL: which there are, which of them the
// user asked for (the grammar of NCCL_SOCKET_IFNAME), and what is known about each. Opens no socket
// that outlives a call. Listing, choosing and describing are apart, so that tests need no hardware.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datapath/ip_address.h"
#include "util/result.h"

namespace dlcp::datapath {

struct InterfaceAddress {
  std::string name;
  IpAddress ip;  // IPv4 if it has one, else global IPv6, else link-local IPv6
  bool is_loopback = false;
};

struct InterfaceProperties {
  int speed_mbps = 10000;  // 10000 also where the driver does not say
  std::size_t mtu = 1500;
  std::string pci_path;    // real path of the device; empty for a virtual interface
  std::uint64_t guid = 0;  // from the hardware address, else from the name
  int port = 0;            // of a card with several, counted from 0
  bool is_virtual = false;
  bool is_bridge = false;
};

struct Interface : InterfaceAddress {
  InterfaceProperties properties;
};

// Interfaces that are up, running and have an address, in the kernel's order. `family` restricts
// the choice of address.
Result<std::vector<InterfaceAddress>> list_interfaces(std::optional<IpFamily> family = {});

// From <sys_root>/class/net/<name>; what is missing there keeps its default.
InterfaceProperties read_properties(std::string_view name, const std::string& sys_root = "/sys");

// `selection`: a comma-separated list of name prefixes; a leading '=' asks for exact names, a
// leading
// '^' for all others ("^=": all but these exact names); empty for all. Loopback is only chosen by
// name, and docker* and bridges only by name or when nothing else is left. kInvalidUsage, naming
// what was asked and what exists, when nothing is chosen.
Result<std::vector<Interface>> choose_interfaces(std::string_view selection,
                                                 const std::vector<InterfaceAddress>& existing,
                                                 const std::string& sys_root = "/sys");

// The interface that has `ip`; empty when none has.
std::string interface_of(const IpAddress& ip);

// MTU of the named interface or, with an empty name, of the one that has `ip`.
Result<std::size_t> interface_mtu(const std::string& name, const IpAddress& ip);

}  // namespace dlcp::datapath
