// The host's RDMA ports that can carry RoCEv2, as sysfs shows them: which there are, which of them
// the user asked for (the grammar of NCCL_IB_HCA), and by which address each is known. Needs no
// rdma-core, opens nothing; listing and choosing are apart, so that tests need no hardware.
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

// An entry of a port's GID table that is a RoCEv2 address.
struct RoceGid {
  int index = 0;
  IpAddress ip;        // without a scope, also if link-local
  std::string netdev;  // the network interface it belongs to
};

// How packets of one destination come to have different UDP source ports, which switches hash.
enum class Entropy : std::uint8_t {
  kFlowLabel,   // the driver makes the port from an address handle's flow label
  kQueuePairs,  // the port is the queue pair's: there must be several, at most kQueuePairsMax
};

inline constexpr std::size_t kQueuePairsMax = 64;

struct RocePort {
  std::string device;  // "mlx5_0"
  int port = 1;
  std::string driver;  // "mlx5_core", "rdma_rxe"; empty if unknown
  Entropy entropy = Entropy::kQueuePairs;
  bool is_ethernet = false;
  bool is_active = false;
  std::string pci_path;         // real path of the device; empty for a software device
  std::uint64_t node_guid = 0;  // of the card, host order
  int speed_mbps = 10000;
  std::vector<RoceGid> gids;  // RoCEv2 only, by index
  RoceGid gid;                // set by choose_roce_ports: the one in use
};

// By name and port. Ports without a RoCEv2 address, inactive ones and those that are not Ethernet
// are listed too: the reason why one is not used can be told.
std::vector<RocePort> list_roce_ports(const std::string& sys_root = "/sys");

// What keeps the port from being used; empty if nothing does. `gid_index` < 0: any.
std::string why_unusable(const RocePort& port, int gid_index);

// Usable ports that `selection` (DLCP_HCA) asks for, each with its gid: the index asked for, else
// IPv4, else global IPv6, else link-local. kInvalidUsage, naming every port and what is wrong with
// it, if there are none.
Result<std::vector<RocePort>> choose_roce_ports(std::string_view selection, int gid_index,
                                                const std::vector<RocePort>& existing);

// What a driver makes of flow labels, from reading drivers (README of this folder): queue pairs for
// those not known.
Entropy entropy_of(std::string_view driver);

// The UDP source port that a queue pair's packets have, where the driver takes it from the number;
// nullopt where it is not known.
std::optional<std::uint16_t> source_port_of_queue_pair(std::string_view driver,
                                                       std::uint32_t number);

// Whether the kernel plays the card (Soft-RoCE).
bool is_software(const RocePort& port);

std::string to_string(const RocePort& port);  // "mlx5_0:1"

}  // namespace dlcp::datapath
