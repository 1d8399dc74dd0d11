// Asking the kernel for interfaces: getifaddrs, one ioctl, and sysfs.
#include "datapath/udp/interfaces.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "util/fd.h"
#include "util/system_text.h"

namespace dlcp::datapath {
namespace {

using IfaddrsList = std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)>;

Error system_error(std::string what) {
  return Error{ErrorCode::kSystem, fmt::format("{}: {}", what, system_text(errno)), ""};
}

Result<IfaddrsList> read_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return system_error("cannot list the network interfaces");
  return IfaddrsList(list, &::freeifaddrs);
}

// Smaller is preferred.
int rank_of(const IpAddress& ip) {
  if (ip.family == IpFamily::kV4) return 0;
  return ip.is_link_local() ? 2 : 1;
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
    return std::nullopt;  // empty where the driver refuses to say, as for the speed of a link that
                          // is down
  }
}

// "00:11:22:33:44:55" (or an InfiniBand address, of which the end counts) as a number; 0 if it is
// none.
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

}  // namespace

Result<std::vector<InterfaceAddress>> list_interfaces(std::optional<IpFamily> family) {
  const Result<IfaddrsList> list = read_addresses();
  if (!list) return list.error();
  std::vector<InterfaceAddress> found;
  for (const ifaddrs* entry = list.value().get(); entry != nullptr; entry = entry->ifa_next) {
    if (!is_usable(*entry)) continue;
    const std::optional<IpAddress> ip = ip_address_of(*entry->ifa_addr);
    if (!ip || !ip->is_unicast() || (family && ip->family != *family)) continue;
    const auto same = std::find_if(found.begin(), found.end(), [&](const InterfaceAddress& other) {
      return other.name == entry->ifa_name;
    });
    if (same == found.end())
      found.push_back({entry->ifa_name, *ip, (entry->ifa_flags & IFF_LOOPBACK) != 0});
    else if (rank_of(*ip) < rank_of(same->ip))
      same->ip = *ip;
  }
  return found;
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
  return properties;
}

std::string interface_of(const IpAddress& ip) {
  const Result<IfaddrsList> list = read_addresses();
  if (!list) return {};
  for (const ifaddrs* entry = list.value().get(); entry != nullptr; entry = entry->ifa_next) {
    const bool has_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    if (entry->ifa_addr == nullptr) continue;
    const std::optional<IpAddress> found = ip_address_of(*entry->ifa_addr);
    if (found && (*found == ip || (has_loopback && ip.is_loopback()))) return entry->ifa_name;
  }
  return {};
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
                 fmt::format("\"{}\" is too long for an interface's name", interface), ""};
  }
  std::memcpy(request.ifr_name, interface.data(), interface.size());
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) != 0)
    return system_error(fmt::format("cannot read the MTU of {}", interface));
  return static_cast<std::size_t>(request.ifr_mtu);
}

}  // namespace dlcp::datapath
