// RDMA ports from a fake /sys, and their selection as with NCCL_IB_HCA.
#include "datapath/verbs/device/roce_ports.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch.h"

namespace dlcp::datapath::test {
namespace {

namespace fs = std::filesystem;

class FakeSys {
 public:
  FakeSys() {
    std::string name = (fs::temp_directory_path() / "dlcp-roce-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~FakeSys() { fs::remove_all(root_); }
  FakeSys(const FakeSys&) = delete;
  FakeSys& operator=(const FakeSys&) = delete;

  void write(const std::string& file, const std::string& text) {
    const fs::path path = root_ / "class" / "infiniband" / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  void add_port(const std::string& device, int port, const std::string& layer = "Ethernet",
                const std::string& state = "4: ACTIVE") {
    const std::string at = device + "/ports/" + std::to_string(port);
    write(device + "/node_guid", "0011:2233:4455:6677");
    write(at + "/link_layer", layer);
    write(at + "/state", state);
    write(at + "/rate", "400 Gb/sec (4X NDR)");
    write(at + "/gids/0", "0000:0000:0000:0000:0000:0000:0000:0000");
  }
  void add_gid(const std::string& device, int port, int index, const std::string& gid,
               const std::string& type = "RoCE v2") {
    const std::string at = device + "/ports/" + std::to_string(port);
    write(at + "/gids/" + std::to_string(index), gid);
    write(at + "/gid_attrs/types/" + std::to_string(index), type);
    write(at + "/gid_attrs/ndevs/" + std::to_string(index), "eth" + std::to_string(port));
  }
  void set_driver(const std::string& device, const std::string& driver,
                  const std::string& slot = "") {
    const fs::path hardware = root_ / "devices" / "pci0" / (slot.empty() ? device : slot);
    fs::create_directories(hardware);
    fs::create_directories(root_ / "drivers" / driver);
    fs::create_directory_symlink(root_ / "drivers" / driver, hardware / "driver");
    fs::create_directory_symlink(hardware, root_ / "class" / "infiniband" / device / "device");
  }
  std::vector<RocePort> list() const { return list_roce_ports(root_.string()); }

 private:
  fs::path root_;
};

constexpr const char* kLinkLocal = "fe80:0000:0000:0000:0000:00ff:fe4d:0001";
constexpr const char* kV6 = "fd00:0000:0000:0000:0000:0000:0000:0001";
constexpr const char* kV4 = "0000:0000:0000:0000:0000:ffff:0a4d:0001";

void fill(FakeSys& sys) {
  for (const char* device : {"mlx5_0", "mlx5_1", "mlx5_10"}) {
    sys.add_port(device, 1);
    sys.add_gid(device, 1, 0, kLinkLocal, "IB/RoCE v1");
    sys.add_gid(device, 1, 1, kLinkLocal);
    sys.add_gid(device, 1, 2, kV4, "IB/RoCE v1");
    sys.add_gid(device, 1, 3, kV4);
    sys.add_gid(device, 1, 4, kV6);
  }
  sys.add_port("mlx5_1", 2);
  sys.add_gid("mlx5_1", 2, 1, kV6);
}

std::string chosen(const FakeSys& sys, const char* selection, int gid_index = -1) {
  const auto ports = choose_roce_ports(selection, gid_index, sys.list());
  if (!ports) return ports.error().message();
  std::string names;
  for (const RocePort& port : ports.value())
    names += (names.empty() ? "" : " ") + to_string(port);
  return names;
}

TEST_CASE("a port's properties are its RoCEv2 addresses, speed, NIC and entropy") {
  FakeSys sys;
  fill(sys);
  sys.set_driver("mlx5_0", "mlx5_core");
  sys.write("rxe0/parent", "eth0");
  sys.add_port("rxe0", 1);
  const auto ports = sys.list();
  REQUIRE(ports.size() == 5);
  const RocePort& port = ports.front();
  CHECK(to_string(port) == "mlx5_0:1");
  CHECK(port.speed_mbps == 400000);
  CHECK(port.node_guid == 0x0011223344556677u);
  CHECK(port.driver == "mlx5_core");
  CHECK(port.entropy == Entropy::kFlowLabel);
  CHECK(port.pci_path.ends_with("/devices/pci0/mlx5_0"));
  REQUIRE(port.gids.size() == 3);
  CHECK(port.gids[1].index == 3);
  CHECK(to_string(port.gids[1].ip) == "10.77.0.1");
  CHECK(port.gids[1].netdev == "eth1");
  CHECK(ports.back().driver == "rdma_rxe");
  CHECK(ports.back().entropy == Entropy::kQueuePairs);
  CHECK(ports.back().pci_path.empty());
}

TEST_CASE("the ports of a card have one PCI path") {
  FakeSys sys;
  sys.add_port("mlx5_0", 1);
  sys.set_driver("mlx5_0", "mlx5_core", "0000:18:00.0");
  sys.add_port("mlx5_1", 1);
  sys.set_driver("mlx5_1", "mlx5_core", "0000:18:00.1");
  const auto ports = sys.list();
  REQUIRE(ports.size() == 2);
  CHECK(ports[0].pci_path.ends_with("/devices/pci0/0000:18:00.0"));
  CHECK(ports[1].pci_path == ports[0].pci_path);
}

TEST_CASE("the grammar of NCCL_IB_HCA selects devices and their ports") {
  FakeSys sys;
  fill(sys);
  CHECK(chosen(sys, "") == "mlx5_0:1 mlx5_1:1 mlx5_1:2 mlx5_10:1");
  CHECK(chosen(sys, "mlx5_1") == "mlx5_1:1 mlx5_1:2 mlx5_10:1");
  CHECK(chosen(sys, "=mlx5_1") == "mlx5_1:1 mlx5_1:2");
  CHECK(chosen(sys, "=mlx5_1:2,mlx5_0:1") == "mlx5_0:1 mlx5_1:2");
  CHECK(chosen(sys, "^mlx5_1") == "mlx5_0:1");
  CHECK(chosen(sys, "^=mlx5_1:1,mlx5_10") == "mlx5_0:1 mlx5_1:2");
}

TEST_CASE("IPv4 is preferred, then global IPv6; a configured index is used") {
  FakeSys sys;
  fill(sys);
  CHECK(choose_roce_ports("mlx5_0", -1, sys.list()).value().front().gid.index == 3);
  CHECK(choose_roce_ports("=mlx5_1:2", -1, sys.list()).value().front().gid.index == 1);
  CHECK(choose_roce_ports("mlx5_0", 4, sys.list()).value().front().gid.index == 4);
  CHECK(chosen(sys, "", 2)
            .starts_with("no RoCEv2 port is usable; RDMA ports: mlx5_0:1 (GID 2 is not a RoCEv2 "
                         "address (RoCEv2 addresses: 1, 3, 4)), "));
}

TEST_CASE("unusable ports are listed with the reason") {
  FakeSys sys;
  CHECK(chosen(sys, "").starts_with("no RoCEv2 port is usable; RDMA ports: none"));
  sys.add_port("ib0", 1, "InfiniBand");
  sys.add_port("roce0", 1, "Ethernet", "1: DOWN");
  sys.add_port("roce1", 1);
  CHECK(chosen(sys, "roce")
            .starts_with("no usable RoCEv2 port matches \"roce\"; RDMA ports: ib0:1 (not "
                         "Ethernet), roce0:1 (not "
                         "active), roce1:1 (no RoCEv2 address)"));
}

TEST_CASE("the source port of Soft-RoCE's queue pairs is the kernel's hash of their numbers") {
  CHECK(source_port_of_queue_pair("rdma_rxe", 17) == 57236);
  CHECK_FALSE(source_port_of_queue_pair("bnxt_en", 17));
}

}  // namespace
}  // namespace dlcp::datapath::test
