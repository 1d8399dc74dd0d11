// The host's network interfaces as devices for NCCL: which exist, which the user selected (syntax
// of NCCL_SOCKET_IFNAME), and their properties. No socket stays open after a call. Listing,
// choosing and describing are separate functions, so that tests need no hardware.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datapath/address/ip_address.h"
#include "util/result.h"

namespace dlcp::datapath {

// State of an IPv6 address in the kernel (RFC 4862, RFC 8981).
struct AddressState {
  bool is_tentative = false;  // not usable yet, or a duplicate
  bool is_deprecated = false;
  bool is_temporary = false;
};

// Smaller values are preferred, similar to RFC 6724: permanent before temporary before deprecated,
// and global before link-local before loopback. Among equals, IPv4 is first, as in NCCL, then
// global IPv6, then unique local addresses.
int preference_of(const IpAddress& ip, const AddressState& state = {});

struct InterfaceAddress {
  std::string name;
  IpAddress ip;  // the preferred one
  bool is_loopback = false;
  std::vector<IpAddress> others{};  // its other addresses in order of preference
  std::string kind{};               // type of link as reported by netlink; empty for hardware
  unsigned prefix_bits = 32;        // prefix length of an IPv4 `ip`
};

struct InterfaceProperties {
  int speed_mbps = 10000;  // also 10000 if the driver does not report it
  std::size_t mtu = 1500;
  std::string pci_path;    // real path of the device; empty for a virtual interface
  std::uint64_t guid = 0;  // from the hardware address, or from the name if there is none
  int port = 0;            // on a card with several ports, counted from 0
  bool is_virtual = false;
  bool is_bridge = false;
  // Of a bridge: it connects only containers or virtual machines and no link of the host.
  bool is_inner_bridge = false;
};

struct Interface : InterfaceAddress {
  InterfaceProperties properties;
  // The address is on loopback or a dummy link, and packets leave through the host's uplinks. Speed
  // and MTU are those of the uplinks.
  bool is_routed_to = false;
};

// Interfaces that are up and running and have an address, in the kernel's order. Labels of
// addresses ("eth0:1") are not interfaces. `family` restricts the choice of address.
Result<std::vector<InterfaceAddress>> list_interfaces(std::optional<IpFamily> family = {});

// All addresses of these interfaces.
std::vector<IpAddress> addresses_of(const std::vector<InterfaceAddress>& interfaces);

// Read from <sys_root>/class/net/<name>. Missing values keep their defaults.
InterfaceProperties read_properties(std::string_view name, const std::string& sys_root = "/sys");

// `selection`: a comma-separated list of name prefixes; a leading '=' requires exact names, a
// leading '^' selects all others ("^=": all except these exact names); empty selects all. If no
// names are given, only the first group that is not empty is chosen:
//   1. interfaces with a global address
//   2. loopback and dummy links with a global address (routing to the host)
//   3. interfaces with only a link-local address
//   4. bridges and overlays of containers and virtual machines
// Loopback with 127.0.0.1 or ::1 is only chosen by name, or if the host has no other interface. A
// device of group 2 gets the total speed of all uplinks and their smallest MTU. If nothing is
// chosen, the error is kInvalidUsage and states the selection and the existing interfaces.
Result<std::vector<Interface>> choose_interfaces(std::string_view selection,
                                                 const std::vector<InterfaceAddress>& existing,
                                                 const std::string& sys_root = "/sys");

// The same for this host, with addresses of the family. Loopback does not replace interfaces
// that have addresses of the other family only.
Result<std::vector<Interface>> own_interfaces(std::string_view selection,
                                              std::optional<IpFamily> family);

// Why choose_interfaces() with that selection does not choose the interface, in a few words.
std::string why_not_chosen(const InterfaceAddress& interface, std::string_view selection,
                           const std::string& sys_root = "/sys");

// "10.0.0.0/24" if the IPv4 addresses of both are in the same subnet; otherwise empty.
std::string common_subnet(const InterfaceAddress& one, const InterfaceAddress& other);

// True for link names that container runtimes, virtual machines or overlays use (docker0, br-1a2b,
// virbr0, cni0, flannel.1, cali1234, veth5678). Other hosts cannot reach their addresses.
bool is_container_link(std::string_view name);

// The name of the interface with address `ip`; empty if there is none.
std::string interface_of(const IpAddress& ip);
// True if no interface of this host has the address; false also if the list cannot be read.
bool is_gone(const IpAddress& ip);

// The MTU of the named interface or, if the name is empty, of the one with address `ip`.
Result<std::size_t> interface_mtu(const std::string& name, const IpAddress& ip);

}  // namespace dlcp::datapath
