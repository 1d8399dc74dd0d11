// Queries the kernel for interfaces: getifaddrs, one ioctl, netlink, proc and sysfs.
#include "datapath/udp/interfaces/interfaces.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/if_addr.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "datapath/udp/interfaces/netlink.h"
#include "datapath/udp/udp_socket.h"
#include "util/system/fd.h"
#include "util/system/system_text.h"

namespace dlcp::datapath {
namespace {

using IfaddrsList = std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)>;

Error system_error(std::string what, std::string hint = "") {
  return Error{ErrorCode::kSystem, fmt::format("{}: {}", what, system_text(errno)),
               std::move(hint)};
}

Result<IfaddrsList> read_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return system_error("cannot list the network interfaces",
                        "getifaddrs() needs a netlink socket: let the sandbox or seccomp profile "
                        "permit AF_NETLINK, which NCCL needs too");
  }
  return IfaddrsList(list, &::freeifaddrs);
}

std::string read_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::optional<long> read_number(const std::filesystem::path& file) {
  const std::string line = read_line(file);
  try {
    std::size_t used = 0;
    const long value = std::stol(line, &used, 0);
    return used > 0 ? std::optional<long>(value) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;  // empty on a driver error, as for the speed of a link without carrier
  }
}

// Converts "00:11:22:33:44:55" (or an InfiniBand address, of which only the end is used) to a
// number; 0 if it is invalid.
std::uint64_t hardware_address(const std::string& text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    const char* digits = "0123456789abcdef";
    const char* digit = std::strchr(digits, c | 0x20);
    if (c != ':' && c != '\0' && digit != nullptr && *digit != '\0')
      value = value << 4 | static_cast<std::uint64_t>(digit - digits);
  }
  return value;
}

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

bool is_usable(const ifaddrs& entry) {
  constexpr unsigned kNeeded = IFF_UP | IFF_RUNNING;
  return entry.ifa_addr != nullptr && (entry.ifa_flags & kNeeded) == kNeeded;
}

// The name without the label of the address: "eth0" for "eth0:1".
std::string interface_name(const ifaddrs& entry) {
  const std::string_view name = entry.ifa_name;
  return std::string(name.substr(0, name.find(':')));
}

unsigned bits_of(const sockaddr& netmask) {
  sockaddr_in mask;
  std::memcpy(&mask, &netmask, sizeof mask);
  return static_cast<unsigned>(std::popcount(mask.sin_addr.s_addr));
}

using States = std::map<std::array<std::uint8_t, 16>, AddressState>;

// Parses /proc/net/if_inet6: address, index, prefix length, scope, flags, name. Empty without IPv6.
States read_v6_states() {
  States states;
  std::ifstream file("/proc/net/if_inet6");
  std::string digits, index, prefix, scope, flags, name;
  while (file >> digits >> index >> prefix >> scope >> flags >> name) {
    std::array<std::uint8_t, 16> bytes{};
    unsigned bits = 0;
    std::from_chars(flags.data(), flags.data() + flags.size(), bits, 16);
    for (std::size_t i = 0; i < bytes.size() && 2 * i + 2 <= digits.size(); ++i)
      std::from_chars(&digits[2 * i], &digits[2 * i] + 2, bytes[i], 16);
    states[bytes] = {
        (bits & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) != 0 && (bits & IFA_F_OPTIMISTIC) == 0,
        (bits & IFA_F_DEPRECATED) != 0, (bits & IFA_F_TEMPORARY) != 0};
  }
  return states;
}

// True unless the bridge has a port that is neither a container's nor a virtual machine's.
bool joins_no_link(const std::filesystem::path& bridge) {
  std::error_code error;
  for (const auto& port : std::filesystem::directory_iterator(bridge / "brif", error))
    if (!is_container_link(port.path().filename().string())) return false;
  return true;
}

// The interface with the address; empty if none has it.
std::string name_with(const IfaddrsList& list, const IpAddress& ip) {
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    const bool has_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    if (entry->ifa_addr == nullptr) continue;
    const std::optional<IpAddress> found = ip_address_of(*entry->ifa_addr);
    if (found && (*found == ip || (has_loopback && ip.is_loopback())))
      return interface_name(*entry);
  }
  return {};
}

}  // namespace

int preference_of(const IpAddress& ip, const AddressState& state) {
  constexpr int kTemporary = 4, kDeprecated = 8, kLinkScoped = 16, kLoopback = 32;
  const bool is_unique_local = ip.family == IpFamily::kV6 && (ip.bytes[0] & 0xfe) == 0xfc;
  int preference = ip.family == IpFamily::kV4 ? 0 : is_unique_local ? 2 : 1;
  if (state.is_temporary) preference += kTemporary;
  if (state.is_deprecated) preference += kDeprecated;
  if (ip.is_link_scoped()) preference += kLinkScoped;
  if (ip.is_loopback()) preference += kLoopback;
  return preference;
}

bool is_container_link(std::string_view name) {
  // Not "br-": such bridges also carry a host's own address (br-ex, br-mgmt). joins_no_link()
  // recognizes those of containers.
  static constexpr std::string_view kPrefixes[] = {
      "docker",       "virbr",  "vnet",       "cni",   "flannel", "cali",  "vxlan.calico",
      "veth",         "lxc",    "lxdbr",      "tunl0", "cilium_", "kube-", "weave",
      "nodelocaldns", "podman", "ovn-k8s-mp", "vmnet", "incusbr", "tap"};
  return std::ranges::any_of(kPrefixes, [name](auto prefix) { return name.starts_with(prefix); });
}

Result<std::vector<InterfaceAddress>> list_interfaces(std::optional<IpFamily> family) {
  const Result<IfaddrsList> list = read_addresses();
  if (!list) return list.error();
  const States states = read_v6_states();
  const std::vector<Link> links = read_links();
  std::vector<InterfaceAddress> found;
  struct Candidate {
    int preference = 0;
    IpAddress ip;
    unsigned prefix_bits = 32;
  };
  std::vector<std::vector<Candidate>> addresses;  // by interface
  for (const ifaddrs* entry = list.value().get(); entry != nullptr; entry = entry->ifa_next) {
    if (!is_usable(*entry)) continue;
    const std::optional<IpAddress> ip = ip_address_of(*entry->ifa_addr);
    if (!ip || !ip->is_unicast() || (family && ip->family != *family)) continue;
    const auto state = ip->family == IpFamily::kV6 ? states.find(ip->bytes) : states.end();
    const AddressState known = state == states.end() ? AddressState() : state->second;
    if (known.is_tentative) continue;
    const std::string name = interface_name(*entry);
    auto at = std::ranges::find(found, name, &InterfaceAddress::name);
    if (at == found.end()) {
      const Link* const link = find_link(links, name);
      found.push_back({name,
                       {},
                       (entry->ifa_flags & IFF_LOOPBACK) != 0,
                       {},
                       link != nullptr ? link->kind : std::string()});
      addresses.emplace_back();
      at = found.end() - 1;
    }
    const bool has_mask = ip->family == IpFamily::kV4 && entry->ifa_netmask != nullptr;
    addresses[static_cast<std::size_t>(at - found.begin())].push_back(
        {preference_of(*ip, known), *ip, has_mask ? bits_of(*entry->ifa_netmask) : 32});
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::ranges::stable_sort(addresses[i], {}, &Candidate::preference);
    found[i].ip = addresses[i].front().ip;
    found[i].prefix_bits = addresses[i].front().prefix_bits;
    for (std::size_t other = 1; other < addresses[i].size(); ++other)
      found[i].others.push_back(addresses[i][other].ip);
  }
  return found;
}

std::vector<IpAddress> addresses_of(const std::vector<InterfaceAddress>& interfaces) {
  std::vector<IpAddress> addresses;
  for (const InterfaceAddress& interface : interfaces) {
    addresses.push_back(interface.ip);
    addresses.insert(addresses.end(), interface.others.begin(), interface.others.end());
  }
  return addresses;
}

InterfaceProperties read_properties(std::string_view name, const std::string& sys_root) {
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(sys_root) / "class" / "net" / name;
  InterfaceProperties properties;
  if (const auto speed = read_number(directory / "speed"); speed && *speed > 0)
    properties.speed_mbps = static_cast<int>(std::min<long>(*speed, 10'000'000));
  if (const auto mtu = read_number(directory / "mtu"); mtu && *mtu > 0)
    properties.mtu = static_cast<std::size_t>(*mtu);
  if (const auto port = read_number(directory / "dev_port"); port && *port > 0)
    properties.port = static_cast<int>(*port);
  else if (const auto id = read_number(directory / "dev_id"); id && *id > 0)
    properties.port = static_cast<int>(*id);
  properties.guid = hardware_address(read_line(directory / "address"));
  if (properties.guid == 0) properties.guid = hash_of(name);
  std::error_code error;
  const fs::path device = fs::canonical(directory / "device", error);
  properties.pci_path = error ? std::string() : device.string();
  const std::string place = fs::canonical(directory, error).string();
  properties.is_virtual = !error && place.find("/devices/virtual/") != place.npos;
  properties.is_bridge = fs::exists(directory / "bridge", error);
  properties.is_inner_bridge = properties.is_bridge && joins_no_link(directory);
  return properties;
}

std::string interface_of(const IpAddress& ip) {
  const Result<IfaddrsList> list = read_addresses();
  return list ? name_with(list.value(), ip) : std::string();
}

bool is_gone(const IpAddress& ip) {
  const Result<IfaddrsList> list = read_addresses();
  return list && name_with(list.value(), ip).empty();
}

Result<std::size_t> interface_mtu(const std::string& name, const IpAddress& ip) {
  const std::string interface = name.empty() ? interface_of(ip) : name;
  if (interface.empty()) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("no interface of this host has the address {}", to_string(ip)),
                 "choose one that `ip address` shows"};
  }
  ifreq request{};
  if (interface.size() >= sizeof request.ifr_name) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("\"{}\" is too long for the name of an interface", interface), ""};
  }
  std::memcpy(request.ifr_name, interface.data(), interface.size());
  const int domain = ip.family == IpFamily::kV4 ? AF_INET : AF_INET6;
  const Fd socket(::socket(domain, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return udp_socket_error(errno);
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) != 0)
    return system_error(fmt::format("cannot read the MTU of {}", interface));
  return static_cast<std::size_t>(request.ifr_mtu);
}

}  // namespace dlcp::datapath
