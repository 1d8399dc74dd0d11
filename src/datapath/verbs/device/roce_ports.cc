// Reads /sys/class/infiniband.
#include "datapath/verbs/device/roce_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "datapath/name_selection.h"

namespace dlcp::datapath {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSoftRoce = "rdma_rxe";

std::string read_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// Converts "0011:2233:4455:6677" to a number.
std::uint64_t guid_of(std::string text) {
  std::erase(text, ':');
  return std::strtoull(text.c_str(), nullptr, 16);
}

// Parses "400 Gb/sec (4X NDR)". An unreadable rate counts as 10 Gb/s, as for other interfaces.
int speed_of(const std::string& rate) {
  double gbps = 0;
  std::from_chars(rate.data(), rate.data() + rate.size(), gbps);
  return gbps > 0 && gbps < 1e5 ? static_cast<int>(gbps * 1000) : 10000;
}

// Parses eight groups of four digits, without abbreviation; nullopt if no host can have the
// address.
std::optional<IpAddress> ip_of_gid(std::string text) {
  std::erase(text, ':');
  IpAddress ip;
  ip.family = IpFamily::kV6;
  if (text.size() != 2 * ip.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < ip.bytes.size(); ++i) {
    const char* digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, ip.bytes[i], 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
  }
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), ip.bytes.begin())) {
    std::copy(ip.bytes.begin() + kMapped.size(), ip.bytes.end(), ip.bytes.begin());
    std::fill(ip.bytes.begin() + 4, ip.bytes.end(), std::uint8_t{0});
    ip.family = IpFamily::kV4;
  }
  return ip.is_unicast() ? std::optional<IpAddress>(ip) : std::nullopt;
}

std::vector<RoceGid> read_gids(const fs::path& port) {
  std::vector<RoceGid> gids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(port / "gids", error)) {
    const std::string index = entry.path().filename().string();
    const auto ip = ip_of_gid(read_line(entry.path()));
    if (ip && read_line(port / "gid_attrs" / "types" / index) == "RoCE v2")
      gids.push_back({std::atoi(index.c_str()), *ip, read_line(port / "gid_attrs/ndevs" / index)});
  }
  std::ranges::sort(gids, {}, &RoceGid::index);
  return gids;
}

std::string driver_of(const fs::path& device) {
  std::error_code error;
  const fs::path link = fs::read_symlink(device / "device" / "driver", error);
  if (!error) return link.filename().string();
  // Software devices have no driver link; Soft-RoCE has `parent`, its network interface.
  return fs::exists(device / "parent", error) ? kSoftRoce : "";
}

// NCCL takes ports for parts of one card if their paths are equal, so all functions of a card get
// the path of the first one: "0000:18:00.1" becomes "0000:18:00.0".
std::string first_function_of(std::string path) {
  const std::size_t end = path.size();
  if (end > 4 && path[end - 2] == '.' && path[end - 5] == ':') path.back() = '0';
  return path;
}

RocePort read_port(const fs::path& device, const fs::path& directory) {
  RocePort port;
  port.device = device.filename().string();
  port.port = std::atoi(directory.filename().c_str());
  port.driver = driver_of(device);
  port.entropy = entropy_of(port.driver);
  port.is_ethernet = read_line(directory / "link_layer") == "Ethernet";
  port.is_active = read_line(directory / "state").find("ACTIVE") != std::string::npos;
  port.node_guid = guid_of(read_line(device / "node_guid"));
  port.speed_mbps = speed_of(read_line(directory / "rate"));
  port.gids = read_gids(directory);
  std::error_code error;
  const fs::path hardware = fs::canonical(device / "device", error);
  port.pci_path = error ? std::string() : first_function_of(hardware.string());
  return port;
}

// Smaller values are preferred.
int rank_of(const IpAddress& ip) {
  return ip.family == IpFamily::kV4 ? 0 : ip.is_link_local() ? 2 : 1;
}

const RoceGid* best_gid(const RocePort& port, int gid_index) {
  const RoceGid* best = nullptr;
  for (const RoceGid& gid : port.gids) {
    const bool permitted = gid_index < 0 || gid.index == gid_index;
    if (permitted && (best == nullptr || rank_of(gid.ip) < rank_of(best->ip))) best = &gid;
  }
  return best;
}

}  // namespace

Entropy entropy_of(std::string_view driver) {
  constexpr std::string_view kByFlowLabel[] = {"mlx5_core", "hns3"};
  return std::ranges::find(kByFlowLabel, driver) != std::end(kByFlowLabel) ? Entropy::kFlowLabel
                                                                           : Entropy::kQueuePairs;
}

std::optional<std::uint16_t> source_port_of_queue_pair(std::string_view driver,
                                                       std::uint32_t number) {
  if (driver != kSoftRoce) return std::nullopt;
  constexpr std::uint32_t kGoldenRatio = 0x61c88647;  // the kernel's hash_32, reduced to 14 bits
  return static_cast<std::uint16_t>(0xc000 + (number * kGoldenRatio >> (32 - 14)));
}

bool is_software(const RocePort& port) {
  return port.driver == kSoftRoce;
}

std::string to_string(const RocePort& port) {
  return fmt::format("{}:{}", port.device, port.port);
}

std::vector<RocePort> list_roce_ports(const std::string& sys_root) {
  std::vector<RocePort> ports;
  std::error_code error;
  for (const auto& device :
       fs::directory_iterator(fs::path(sys_root) / "class" / "infiniband", error))
    for (const auto& port : fs::directory_iterator(device.path() / "ports", error))
      ports.push_back(read_port(device.path(), port.path()));
  std::ranges::sort(ports, [](const RocePort& a, const RocePort& b) {
    return std::pair(a.device, a.port) < std::pair(b.device, b.port);
  });
  return ports;
}

void keep_local_gids(std::vector<RocePort>& ports, std::span<const IpAddress> local) {
  for (RocePort& port : ports) {
    std::erase_if(
        port.gids,
        [&](const RoceGid& gid) {
          return std::ranges::none_of(
              local,
              [&](const IpAddress& ip) {
                return ip.family == gid.ip.family &&
                       ip.bytes == gid.ip.bytes;  // a GID has no scope
              });
        });
  }
}

std::string why_unusable(const RocePort& port, int gid_index) {
  if (!port.is_ethernet) return "not Ethernet";
  if (!port.is_active) return "not active";
  if (port.gids.empty()) return "no RoCEv2 address";
  if (best_gid(port, gid_index) == nullptr) {
    std::string indices;
    for (const RoceGid& gid : port.gids)
      indices += fmt::format("{}{}", indices.empty() ? "" : ", ", gid.index);
    return fmt::format("GID {} is not a RoCEv2 address (RoCEv2 addresses: {})", gid_index, indices);
  }
  return {};
}

Result<std::vector<RocePort>> choose_roce_ports(std::string_view selection, int gid_index,
                                                const std::vector<RocePort>& existing) {
  const NameSelection wanted(selection);
  std::vector<RocePort> chosen;
  std::string all;
  for (const RocePort& port : existing) {
    const std::string problem = why_unusable(port, gid_index);
    all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", to_string(port),
                       problem.empty() ? "usable" : problem);
    if (problem.empty() && wanted.selects(port.device, port.port)) {
      chosen.push_back(port);
      chosen.back().gid = *best_gid(port, gid_index);
    }
  }
  if (chosen.empty()) {
    const std::string asked = selection.empty()
                                  ? "no RoCEv2 port is usable"
                                  : fmt::format("no usable RoCEv2 port matches \"{}\"", selection);
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("{}; RDMA ports: {}", asked, all.empty() ? "none" : all),
                 "run `dlcp doctor`; check DLCP_HCA and DLCP_GID_INDEX"};
  }
  return chosen;
}

}  // namespace dlcp::datapath
