// The host's RDMA ports that support RoCEv2, as sysfs reports them: which exist, which the user
// selected (syntax of NCCL_IB_HCA), and the address of each. It does not need rdma-core and opens
// no device. Listing and choosing are separate, so that tests need no hardware.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datapath/address/ip_address.h"
#include "util/result.h"

namespace dlcp::datapath {

// A RoCEv2 entry of a port's GID table.
struct RoceGid {
  int index = 0;
  IpAddress ip;        // without a scope, even if link-local
  std::string netdev;  // the network interface of the address
};

// How packets to one destination get different UDP source ports, which switches hash.
enum class Entropy : std::uint8_t {
  kFlowLabel,   // the driver derives the port from an address handle's flow label
  kQueuePairs,  // the port belongs to the queue pair, so several are needed, at most kQueuePairsMax
};

inline constexpr std::size_t kQueuePairsMax = 64;

struct RocePort {
  std::string device;  // "mlx5_0"
  int port = 1;
  std::string driver;  // "mlx5_core", "rdma_rxe"; empty if unknown
  Entropy entropy = Entropy::kQueuePairs;
  bool is_ethernet = false;
  bool is_active = false;
  std::string pci_path;         // real path of the card's function 0; empty for a software device
  std::uint64_t node_guid = 0;  // of the card, in host byte order
  int speed_mbps = 10000;
  std::vector<RoceGid> gids;  // RoCEv2 only, by index
  RoceGid gid;                // the one in use, set by choose_roce_ports
};

// Ordered by name and port. Ports without a RoCEv2 address, inactive ports and ports other than
// Ethernet are included, so that messages can give the reason why a port is not used.
std::vector<RocePort> list_roce_ports(const std::string& sys_root = "/sys");

// Drops the GIDs whose address is not in `local`, the addresses of this network namespace. If RDMA
// devices are shared among namespaces (the kernel's default), sysfs shows a container the GIDs of
// the host and of other containers, which the kernel does not let it use.
void keep_local_gids(std::vector<RocePort>& ports, std::span<const IpAddress> local);

// The reason why the port cannot be used; empty if it can. A `gid_index` below 0 allows any GID.
std::string why_unusable(const RocePort& port, int gid_index);

// The usable ports that `selection` (DLCP_HCA) selects, each with its GID: the index requested, or
// IPv4 before global IPv6 before link-local. If there are none, the error is kInvalidUsage and
// lists every port with the reason.
Result<std::vector<RocePort>> choose_roce_ports(std::string_view selection, int gid_index,
                                                const std::vector<RocePort>& existing);

// How a driver uses flow labels, according to its source code (README of this folder). Unknown
// drivers get queue pairs.
Entropy entropy_of(std::string_view driver);

// The UDP source port of a queue pair's packets if the driver derives it from the number; nullopt
// if unknown.
std::optional<std::uint16_t> source_port_of_queue_pair(std::string_view driver,
                                                       std::uint32_t number);

// True if the kernel emulates the card (Soft-RoCE).
bool is_software(const RocePort& port);

std::string to_string(const RocePort& port);  // "mlx5_0:1"

}  // namespace dlcp::datapath
