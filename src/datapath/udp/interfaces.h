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

// What the kernel says of an IPv6 address (RFC 4862, RFC 8981).
struct AddressState {
  bool is_tentative = false;  // not usable yet, or a duplicate
  bool is_deprecated = false;
  bool is_temporary = false;
};

// Smaller is preferred, in the spirit of RFC 6724: permanent before temporary before deprecated,
// global before link-local before loopback; among equals IPv4, which NCCL takes first, then global
// IPv6, then unique local.
int preference_of(const IpAddress& ip, const AddressState& state = {});

struct InterfaceAddress {
  std::string name;
  IpAddress ip;  // the preferred one
  bool is_loopback = false;
  std::vector<IpAddress> others{};  // its other addresses, the preferred first
  std::string kind{};               // of the link, as netlink names it; empty for hardware
  unsigned prefix_bits = 32;        // of an IPv4 `ip`'s subnet
};

struct InterfaceProperties {
  int speed_mbps = 10000;  // 10000 also where the driver does not say
  std::size_t mtu = 1500;
  std::string pci_path;    // real path of the device; empty for a virtual interface
  std::uint64_t guid = 0;  // from the hardware address, else from the name
  int port = 0;            // of a card with several, counted from 0
  bool is_virtual = false;
  bool is_bridge = false;
  // Of a bridge: it joins containers or virtual machines only, no link of the host.
  bool is_inner_bridge = false;
};

struct Interface : InterfaceAddress {
  InterfaceProperties properties;
  // Its address lies on loopback or a dummy link, and packets leave by the host's uplinks; speed
  // and MTU are theirs.
  bool is_routed_to = false;
};

// Interfaces that are up, running and have an address, in the kernel's order. Labels of addresses
// ("eth0:1") name no interface of their own. `family` restricts the choice of address.
Result<std::vector<InterfaceAddress>> list_interfaces(std::optional<IpFamily> family = {});

// From <sys_root>/class/net/<name>; what is missing there keeps its default.
InterfaceProperties read_properties(std::string_view name, const std::string& sys_root = "/sys");

// `selection`: a comma-separated list of name prefixes; a leading '=' asks for exact names, a
// leading '^' for all others ("^=": all but these exact names); empty for all. Where no names are
// given, only the first of these groups that is not empty is chosen:
//   1. interfaces with a global address
//   2. loopback and dummy links with a global address: routing to the host
//   3. interfaces with nothing but a link-local address
//   4. bridges and overlays of containers and virtual machines
// Loopback with 127.0.0.1 or ::1 is only chosen by name. A device of group 2 gets the speed of all
// uplinks together and their smallest MTU. kInvalidUsage, naming what was asked and what exists,
// when nothing is chosen.
Result<std::vector<Interface>> choose_interfaces(std::string_view selection,
                                                 const std::vector<InterfaceAddress>& existing,
                                                 const std::string& sys_root = "/sys");

// Why choose_interfaces() with that selection does not choose it, in a few words.
std::string why_not_chosen(const InterfaceAddress& interface, std::string_view selection,
                           const std::string& sys_root = "/sys");

// "10.0.0.0/24" where the IPv4 addresses of both are in one subnet; else empty.
std::string common_subnet(const InterfaceAddress& one, const InterfaceAddress& other);

// Whether container runtimes, virtual machines or overlays name their links so (docker0, br-1a2b,
// virbr0, cni0, flannel.1, cali1234, veth5678): their addresses mean nothing to other hosts.
bool is_container_link(std::string_view name);

// The interface that has `ip`; empty when none has.
std::string interface_of(const IpAddress& ip);

// MTU of the named interface or, with an empty name, of the one that has `ip`.
Result<std::size_t> interface_mtu(const std::string& name, const IpAddress& ip);

}  // namespace dlcp::datapath
