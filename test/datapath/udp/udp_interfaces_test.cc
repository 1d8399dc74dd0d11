// Interface selection as with NCCL_SOCKET_IFNAME, and interface properties from a fake /sys.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "datapath/udp/interfaces/interfaces.h"
#include "no_open_files.h"

namespace dlcp::datapath::test {
namespace {

namespace fs = std::filesystem;

// A temporary /sys, removed with the object.
class FakeSys {
 public:
  FakeSys() {
    std::string name = (fs::temp_directory_path() / "dlcp-sys-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    fs::create_directories(root_ / "class" / "net");
  }
  ~FakeSys() { fs::remove_all(root_); }
  FakeSys(const FakeSys&) = delete;
  FakeSys& operator=(const FakeSys&) = delete;

  fs::path add(const std::string& name, const std::string& place) {
    const fs::path directory = root_ / "devices" / place / "net" / name;
    fs::create_directories(directory);
    fs::create_directory_symlink(directory, root_ / "class" / "net" / name);
    return directory;
  }
  void add_physical(const std::string& name, const std::string& pci) {
    fs::create_directory_symlink(root_ / "devices" / pci, add(name, pci) / "device");
  }
  void add_bridge(const std::string& name, const std::vector<std::string>& ports) {
    const fs::path directory = add(name, "virtual");
    fs::create_directories(directory / "bridge");
    for (const std::string& port : ports)
      fs::create_directories(directory / "brif" / port);
  }
  void write(const std::string& name, const std::string& file, const std::string& text) {
    std::ofstream(root_ / "class" / "net" / name / file) << text << '\n';
  }
  std::string root() const { return fs::canonical(root_).string(); }

 private:
  fs::path root_;
};

InterfaceAddress interface_called(const std::string& name, const char* ip) {
  return {name, parse_ip_address(ip).value(), name == "lo"};
}

std::vector<InterfaceAddress> host() {
  return {interface_called("lo", "127.0.0.1"),      interface_called("eth0", "10.0.0.1"),
          interface_called("eth1", "10.0.1.1"),     interface_called("eth10", "10.0.2.1"),
          interface_called("ib0", "fd00::1"),       interface_called("docker0", "172.17.0.1"),
          interface_called("br-1a2b", "172.18.0.1")};
}

std::string names_of(const Result<std::vector<Interface>>& chosen) {
  std::string names;
  if (chosen)
    for (const Interface& interface : chosen.value())
      names += (names.empty() ? "" : " ") + interface.name;
  return names;
}

}  // namespace

TEST_CASE("the selection grammar chooses the same interfaces as NCCL") {
  FakeSys sys;
  sys.add_bridge("br-1a2b", {});
  struct Case {
    const char* selection;
    const char* chosen;
  };
  const Case cases[] = {
      {"", "eth0 eth1 eth10 ib0"},
      {"eth", "eth0 eth1 eth10"},
      {"eth1", "eth1 eth10"},
      {"=eth1", "eth1"},
      {"eth0,ib", "eth0 ib0"},
      {"ib,eth0", "eth0 ib0"},  // the kernel's order
      {" eth0 , ib ", "eth0 ib0"},
      {"=eth0,eth10", "eth0 eth10"},
      {"eth0:5000", "eth0"},
      {"^eth", "ib0"},
      {"^eth1", "eth0 ib0"},
      {"^=eth1", "eth0 eth10 ib0"},
      {"^eth,ib", "docker0 br-1a2b"},  // the remaining interfaces, although less suitable
      {"^docker", "eth0 eth1 eth10 ib0"},
      {"docker,br", "docker0 br-1a2b"},
      {"eth0,docker", "eth0 docker0"},
      {"lo", "lo"},
      {"=lo", "lo"},
      {"^", "eth0 eth1 eth10 ib0"},
      {",,", "eth0 eth1 eth10 ib0"},
      {"nothing", ""},
      {"=eth", ""},
      {"^eth,ib,docker,br", ""},
  };
  for (const Case& c : cases) {
    INFO(c.selection);
    const auto chosen = choose_interfaces(c.selection, host(), sys.root());
    CHECK(names_of(chosen) == c.chosen);
    CHECK(chosen.ok() == (c.chosen[0] != '\0'));
  }
}

TEST_CASE("if nothing matches, the error names the selection and the existing interfaces") {
  const auto chosen = choose_interfaces("mlx", host(), "/nonexistent");
  REQUIRE_FALSE(chosen);
  CHECK(chosen.error().code == ErrorCode::kInvalidUsage);
  CHECK_THAT(chosen.error().message(),
             Contains("\"mlx\"") && Contains("eth0 (10.0.0.1)") && Contains("ib0 (fd00::1)"));
  const auto excluded =
      choose_interfaces("^lo", {interface_called("lo", "127.0.0.1")}, "/nonexistent");
  REQUIRE_FALSE(excluded);
  CHECK_THAT(excluded.error().message(), Contains("\"^lo\"") && Contains("lo (127.0.0.1)"));
  CHECK_THAT(choose_interfaces("", {}, "/nonexistent").error().message(),
             Contains("none") && Contains("bring an interface up") && !Contains("select one"));
}

TEST_CASE("loopback is a device only if the host has no other interface, or if it is named") {
  const InterfaceAddress lo = interface_called("lo", "127.0.0.1");
  CHECK(names_of(choose_interfaces("", {lo}, "/nonexistent")) == "lo");
  const std::vector<InterfaceAddress> both = {lo, interface_called("docker0", "172.17.0.1")};
  CHECK(names_of(choose_interfaces("", both, "/nonexistent")) == "docker0");
  CHECK_FALSE(choose_interfaces("^docker0", both, "/nonexistent"));
}

TEST_CASE("an interface with only a link-local address is not a device unless it is named") {
  const std::vector<InterfaceAddress> existing = {
      interface_called("lo", "127.0.0.1"), interface_called("bmc0", "169.254.3.1"),
      interface_called("usb0", "fe80::1%1"), interface_called("eth0", "10.0.0.1")};
  CHECK(names_of(choose_interfaces("", existing, "/nonexistent")) == "eth0");
  CHECK(names_of(choose_interfaces("usb0", existing, "/nonexistent")) == "usb0");
  CHECK(names_of(choose_interfaces("^eth0", existing, "/nonexistent")) == "bmc0 usb0");
}

TEST_CASE("if the uplinks have only link-local addresses, the address of loopback is used") {
  FakeSys sys;
  for (const char* uplink : {"up0", "up1"}) {
    sys.add_physical(uplink, std::string("pci/") + uplink);
    sys.write(uplink, "speed", "100000");
    sys.write(uplink, "mtu", "9000");
  }
  const std::vector<InterfaceAddress> existing = {
      interface_called("lo", "10.64.0.1"), interface_called("up0", "fe80::1%1"),
      interface_called("up1", "fe80::2%1"), interface_called("docker0", "172.17.0.1")};
  for (const char* selection : {"", "=lo"}) {
    const auto chosen = choose_interfaces(selection, existing, sys.root());
    REQUIRE(names_of(chosen) == "lo");
    CHECK(chosen.value().front().is_routed_to);
    CHECK(chosen.value().front().properties.speed_mbps == 200000);
    CHECK(chosen.value().front().properties.mtu == 9000);
  }
}

TEST_CASE("a dummy link is used only if no other interface has a global address") {
  InterfaceAddress dummy = interface_called("dummy0", "10.64.0.1");
  dummy.kind = "dummy";
  const InterfaceAddress uplink = interface_called("up0", "fe80::1%1");
  CHECK(names_of(choose_interfaces("", {dummy, uplink}, "/nonexistent")) == "dummy0");
  CHECK(names_of(choose_interfaces("", {dummy, interface_called("eth0", "10.0.0.1")},
                                   "/nonexistent")) == "eth0");
}

TEST_CASE("a bridge with an uplink is a device, a bridge of containers only is not") {
  FakeSys sys;
  sys.add_bridge("br0", {"eth0", "vnet3"});
  sys.add_bridge("mybridge", {"veth7"});
  CHECK(names_of(choose_interfaces(
            "",
            {interface_called("br0", "10.0.0.1"), interface_called("mybridge", "172.20.0.1"),
             interface_called("cni0", "10.42.0.1"), interface_called("flannel.1", "10.42.0.0")},
            sys.root())) == "br0");
}

TEST_CASE("the name of a bridge does not decide whether it is of containers") {
  FakeSys sys;
  sys.add_bridge("br-mgmt", {"eno1"});
  sys.add_bridge("br-1a2b", {"veth7"});
  CHECK(names_of(choose_interfaces(
            "",
            {interface_called("br-mgmt", "10.0.0.1"), interface_called("br-1a2b", "172.18.0.1"),
             interface_called("eno2", "fe80::1%1"), interface_called("ovn-k8s-mp0", "10.128.0.2")},
            sys.root())) == "br-mgmt");
}

TEST_CASE("an interface's addresses are preferred in the order of RFC 6724") {
  const auto preference = [](const char* ip, AddressState state = {}) {
    return preference_of(parse_ip_address(ip).value(), state);
  };
  const AddressState temporary{.is_temporary = true};
  const AddressState deprecated{.is_deprecated = true};
  CHECK(preference("10.0.0.1") < preference("2001:db8::1"));
  CHECK(preference("2001:db8::1") < preference("fd00::1"));
  CHECK(preference("fd00::1") < preference("2001:db8::2", temporary));
  CHECK(preference("2001:db8::2", temporary) < preference("2001:db8::3", deprecated));
  CHECK(preference("2001:db8::3", deprecated) < preference("169.254.1.1"));
  CHECK(preference("169.254.1.1") < preference("fe80::1%1"));
  CHECK(preference("fe80::1%1") < preference("127.0.0.1"));
}

TEST_CASE("bridges are used if there is nothing else") {
  const auto chosen = choose_interfaces(
      "", {interface_called("lo", "127.0.0.1"), interface_called("docker0", "172.17.0.1")},
      "/nonexistent");
  CHECK(names_of(chosen) == "docker0");
}

TEST_CASE("a NIC's properties are read from sysfs") {
  FakeSys sys;
  sys.add_physical("eth0", "pci0000:17/0000:17:00.0/0000:18:00.1");
  sys.write("eth0", "speed", "200000");
  sys.write("eth0", "mtu", "9000");
  sys.write("eth0", "dev_port", "1");
  sys.write("eth0", "address", "0c:42:a1:00:00:7f");
  const InterfaceProperties card = read_properties("eth0", sys.root());
  CHECK(card.speed_mbps == 200000);
  CHECK(card.mtu == 9000);
  CHECK(card.port == 1);
  CHECK(card.guid == 0x0c42a100007f);
  CHECK(card.pci_path == sys.root() + "/devices/pci0000:17/0000:17:00.0/0000:18:00.1");
  CHECK_FALSE(card.is_virtual);
  CHECK_FALSE(card.is_bridge);
}

TEST_CASE("properties missing in sysfs keep a sensible default") {
  FakeSys sys;
  sys.add("veth0", "virtual");
  sys.write("veth0", "speed", "-1");
  sys.write("veth0", "mtu", "garbage");
  sys.write("veth0", "dev_id", "0x2");
  sys.write("veth0", "address", "00:00:00:00:00:00");
  const InterfaceProperties veth = read_properties("veth0", sys.root());
  CHECK(veth.speed_mbps == 10000);
  CHECK(veth.mtu == 1500);
  CHECK(veth.port == 2);
  CHECK(veth.guid != 0);
  CHECK(veth.pci_path.empty());
  CHECK(veth.is_virtual);
  const InterfaceProperties absent = read_properties("absent0", sys.root());
  CHECK(absent.speed_mbps == 10000);
  CHECK(absent.guid != veth.guid);
}

TEST_CASE("an address is not reported as gone where the addresses cannot be read") {
  const IpAddress other = parse_ip_address("192.0.2.77").value();  // reserved for documentation
  CHECK(is_gone(other));
  bool was_gone = true;
  {
    const dlcp::test::NoOpenFiles limit;
    was_gone = is_gone(other);
  }
  CHECK_FALSE(was_gone);
}

TEST_CASE("this host's loopback is listed with its address and its MTU") {
  const auto existing = list_interfaces();
  REQUIRE(existing);
  const auto chosen = choose_interfaces("=lo", existing.value());
  if (!chosen) {
    WARN("skipped: loopback is not up here");
    return;
  }
  const Interface& loopback = chosen.value().front();
  CHECK(loopback.is_loopback);
  CHECK(loopback.properties.is_virtual);
  CHECK(to_string(loopback.ip) == "127.0.0.1");
  CHECK(interface_mtu("", loopback.ip).value() == interface_mtu("lo", loopback.ip).value());
  const auto v6 = list_interfaces(IpFamily::kV6);
  REQUIRE(v6);
  for (const InterfaceAddress& interface : v6.value())
    CHECK(interface.ip.family == IpFamily::kV6);
}

}  // namespace dlcp::datapath::test
