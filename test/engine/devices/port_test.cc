// How many lanes a device has, and how connections are distributed over them.
#include "engine/devices/port.h"

#include <map>

#include "catch.h"
#include "engine/memory_datapath.h"
#include "secrets.h"

using namespace dlcp;
using namespace dlcp::test;
using namespace dlcp::engine;

namespace {

std::shared_ptr<Engine> open(const datapath::DeviceAddress& address) {
  return std::make_shared<Engine>(
      std::make_unique<MemoryDatapath>(std::make_shared<Wire>(), 0, encode(address)),
      core::Config{}, secrets_of(1), [](const LogLine&) {}, [](core::ContextId, const Error&) {});
}

datapath::DeviceAddress address_of(std::uint16_t port, std::uint32_t queue_pair) {
  datapath::DeviceAddress address;
  address.ip = datapath::parse_ip_address("10.0.0.1").value();
  if (port != 0) address.add(datapath::LocatorKind::kUdpPort, port);
  if (queue_pair != 0) address.add(datapath::LocatorKind::kQueuePair, queue_pair);
  return address;
}

std::size_t lanes_of(int gbps, const Carrier& over, std::size_t processors, std::size_t set = 0) {
  Device device;
  device.properties.speed_mbps = gbps * 1000;
  Settings settings;
  settings.lanes = set;
  return lane_count(device, over, settings, processors);
}

}  // namespace

TEST_CASE("a device has as many lanes as its speed needs, if there are enough processors") {
  CHECK(lanes_of(100, kUdp, 64) == 4);
  CHECK(lanes_of(100, kUdp, 63) == 3);
  CHECK(lanes_of(100, kUdp, 31) == 1);
  CHECK(lanes_of(25, kUdp, 256) == 1);
  CHECK(lanes_of(26, kUdp, 256) == 2);
  CHECK(lanes_of(400, kRoce, 256) == 3);
  CHECK(lanes_of(190, kRoce, 256) == 1);
  CHECK(lanes_of(0, kUdp, 256) == 1);  // unknown speed
  CHECK(lanes_of(800, kUdp, 1024) == 16);
  CHECK(lanes_of(10, kUdp, 1, 5) == 5);  // as configured
}

TEST_CASE("listeners and connections are each assigned to the lanes in turn") {
  const auto a = open(address_of(50'000, 0));
  const auto b = open(address_of(50'001, 0));
  const auto roce = open(address_of(0, 17));
  const Port port({{&kRoce, roce}, {&kUdp, a}, {&kUdp, b}});
  for (const auto& expected : {a, b, a}) {
    const Port turned = port.for_listener();
    CHECK(turned.lanes().size() == 3);
    CHECK(turned.of(kUdp).size() == 2);
    CHECK(turned.of(kUdp).front().engine == expected);
    const auto beside = turned.addresses_beside(turned.of(kUdp).front());
    CHECK(beside == std::vector{(expected == a ? b : a)->address()});
    CHECK(turned.addresses_beside(*turned.over(kRoce)).empty());
    const Port picked = turned.first_of_each();
    REQUIRE(picked.lanes().size() == 2);
    CHECK(picked.over(kRoce)->engine == roce);
    CHECK(picked.over(kUdp)->engine == expected);
    const auto address = datapath::decode_device_address(picked.address());
    REQUIRE(address);
    CHECK(*address == address_of(expected == a ? 50'000 : 50'001, 17));
  }
  CHECK(port.for_connection().over(kUdp)->engine == a);
  CHECK(port.for_connection().over(kUdp)->engine == b);
  CHECK(port.holder_of(b.get()) == b);
  CHECK(port.holder_of(nullptr) == nullptr);
}
