#include "engine/devices/roce/roce_choice.h"

#include <string>
#include <vector>

#include "catch.h"

namespace dlcp::engine::test {
namespace {

using datapath::InterfaceAddress;
using datapath::RocePort;

datapath::IpAddress ip(const char* text) {
  return datapath::parse_ip_address(text).value();
}

InterfaceAddress interface(const char* name, const char* address) {
  return {name, ip(address), std::string(name) == "lo"};
}

RocePort port(const char* device, const char* netdev, std::vector<const char*> addresses) {
  RocePort result;
  result.device = device;
  result.is_ethernet = result.is_active = true;
  for (const char* address : addresses)
    result.gids.push_back({static_cast<int>(result.gids.size()), ip(address), netdev});
  return result;
}

std::string text_of(const std::vector<RocePort>& ports) {
  std::string text;
  for (const RocePort& port : ports)
    text += port.device + " " + to_string(port.gid.ip) + ";";
  return text;
}

Settings settings() {
  Settings result = default_settings();
  result.gid_index = -1;
  return result;
}

}  // namespace

TEST_CASE("auto uses RoCE ports with an address of this network namespace only") {
  const std::vector<RocePort> ports{port("mlx5_0", "ens1", {"fe80::1", "10.0.0.5", "10.0.0.9"})};
  CHECK(text_of(ports_without_request(settings(), ports, {interface("ens1", "10.0.0.5")})) ==
        "mlx5_0 10.0.0.5;");
  // A container that sees its host's port, with and without an interface on the same card.
  CHECK(text_of(ports_without_request(settings(), ports, {interface("eth0", "10.1.0.2")})).empty());
  CHECK(text_of(ports_without_request(
            settings(), ports, {interface("eth0", "10.1.0.2"), interface("net1", "10.0.0.9")})) ==
        "mlx5_0 10.0.0.9;");
}

TEST_CASE("a further address of an interface counts, too") {
  InterfaceAddress both = interface("ens1", "10.0.0.4");
  both.others.push_back(ip("10.0.0.5"));
  const std::vector<RocePort> ports{port("mlx5_0", "ens1", {"10.0.0.5"})};
  CHECK(text_of(ports_without_request(settings(), ports, {both})) == "mlx5_0 10.0.0.5;");
}

TEST_CASE("a link-local RoCE port replaces nothing that has a global address") {
  const RocePort bare = port("mlx5_1", "ens2", {"fe80::2"});
  const InterfaceAddress ens2 = interface("ens2", "fe80::2%1");
  CHECK(text_of(ports_without_request(settings(), {bare}, {ens2, interface("eth0", "10.1.0.2")}))
            .empty());
  CHECK(text_of(ports_without_request(settings(), {bare}, {ens2, interface("lo", "127.0.0.1")})) ==
        "mlx5_1 fe80::2;");
  const RocePort configured = port("mlx5_0", "ens1", {"10.0.0.5"});
  CHECK(text_of(ports_without_request(settings(), {configured, bare},
                                      {ens2, interface("ens1", "10.0.0.5")})) ==
        "mlx5_0 10.0.0.5;");
  Settings named = settings();
  named.hcas = "mlx5_1";
  CHECK(text_of(ports_without_request(named, {bare}, {ens2, interface("eth0", "10.1.0.2")})) ==
        "mlx5_1 fe80::2;");
}

TEST_CASE("a request for RoCE prefers addresses of this network namespace") {
  const std::vector<RocePort> ports{port("mlx5_0", "ens1", {"10.0.0.5", "10.0.0.9"})};
  const auto local = ports_on_request(settings(), ports, {interface("net1", "10.0.0.9")});
  REQUIRE(local);
  CHECK(text_of(local.value()) == "mlx5_0 10.0.0.9;");
  const auto foreign = ports_on_request(settings(), ports, {interface("eth0", "10.1.0.2")});
  REQUIRE(foreign);
  CHECK(text_of(foreign.value()) == "mlx5_0 10.0.0.5;");
  CHECK_FALSE(ports_on_request(settings(), {}, {}));
}

TEST_CASE("a request for RoCE uses only ports on the interfaces that DLCP_IFNAME selects") {
  const std::vector<RocePort> ports{port("mlx5_0", "ens1", {"10.0.0.5"}),
                                    port("mlx5_1", "ens2", {"10.0.1.5"})};
  const std::vector<InterfaceAddress> interfaces{interface("ens1", "10.0.0.5"),
                                                 interface("ens2", "10.0.1.5")};
  const auto named = [&](const char* variable, const char* value) {
    Settings result = settings();
    result.interfaces = value;
    result.effective = {{"DLCP_IFNAME", value, variable}};
    return ports_on_request(result, ports, interfaces);
  };
  CHECK(text_of(named("environment", "ens2").value()) == "mlx5_1 10.0.1.5;");
  CHECK(text_of(named("NCCL_SOCKET_IFNAME", "ens2").value()) == "mlx5_0 10.0.0.5;mlx5_1 10.0.1.5;");
  const auto none = named("environment", "eth0");
  REQUIRE_FALSE(none);
  CHECK(none.error().what == "no usable RoCEv2 port is on an interface of DLCP_IFNAME=eth0");
}

TEST_CASE("a selection without a usable port is reported, with the variable that made it") {
  const auto selected = [](const char* variable, const char* value) {
    const auto no_file = [](const std::string&) -> Result<std::optional<std::string>> {
      return std::optional<std::string>();
    };
    return load_settings({{variable, value}}, no_file).value();
  };
  const auto line = unused_selection(selected("DLCP_HCA", "mlx5"), {});
  REQUIRE(line);
  CHECK(line->level == LogLevel::kWarn);
  CHECK(line->text ==
        "DLCP_HCA=mlx5 has no effect, and UDP is used: no usable RoCEv2 port matches \"mlx5\"; "
        "RDMA ports: none");
  // Usual on hosts whose other networks need it.
  const auto of_nccl = unused_selection(selected("NCCL_IB_HCA", "mlx5"), {});
  REQUIRE(of_nccl);
  CHECK(of_nccl->level == LogLevel::kInfo);
  CHECK_THAT(of_nccl->text, Contains("NCCL_IB_HCA=mlx5 has no effect"));
  CHECK_FALSE(unused_selection(selected("DLCP_HCA", "^mlx5_1"), {}));
  CHECK_FALSE(unused_selection(settings(), {}));
  const RocePort foreign = port("mlx5_0", "ens1", {"10.0.0.5"});
  CHECK_THAT(unused_selection(selected("DLCP_HCA", "mlx5"), {foreign})->text,
             Contains("its ports cannot be used here"));
}

}  // namespace dlcp::engine::test
