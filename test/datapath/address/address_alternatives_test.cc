// Several addresses of a host in one blob.
#include "datapath/address/address_alternatives.h"

#include <algorithm>
#include <vector>

#include "catch.h"
#include "util/rng.h"

namespace dlcp::datapath::test {
namespace {

DeviceAddress address_of(const char* ip, std::uint32_t ports = 1) {
  DeviceAddress address;
  address.ip = parse_ip_address(ip).value();
  for (std::uint32_t i = 0; i < ports; ++i)
    address.add(LocatorKind::kUdpPort, 50'000 + i);
  return address;
}

}  // namespace

TEST_CASE(
    "alternatives are decoded in order, each with one port, and the first address stays first") {
  const std::vector<DeviceAddress> others = {address_of("10.0.1.1", 16), address_of("10.0.2.1"),
                                             address_of("fd00::2")};
  const auto blob = with_alternatives(address_of("10.0.0.1", 16), others);
  CHECK(decode_device_address(blob) == address_of("10.0.0.1"));
  CHECK(alternatives_in(blob) ==
        std::vector{address_of("10.0.1.1"), address_of("10.0.2.1"), address_of("fd00::2")});
}

TEST_CASE("an address without alternatives keeps all of its ports") {
  const auto first = address_of("10.0.0.1", 16);
  CHECK(with_alternatives(first, {}) == encode(first));
  CHECK(alternatives_in(encode(first)).empty());
}

TEST_CASE("alternatives without room, or meaningless to other hosts, are left out") {
  std::vector<DeviceAddress> others;
  for (const char* ip : {"fe80::9%3", "169.254.1.1", "127.0.0.1", "::1"})
    others.push_back(address_of(ip));
  CHECK(alternatives_in(with_alternatives(address_of("fd00::1"), others)).empty());
  others = {address_of("fd00::2"), address_of("fd00::3"), address_of("fd00::4")};
  CHECK(alternatives_in(with_alternatives(address_of("fd00::1"), others)) ==
        std::vector{address_of("fd00::2")});
  others.assign(20, address_of("10.0.1.1"));
  CHECK(alternatives_in(with_alternatives(address_of("10.0.0.1"), others)).size() == 7);
}

TEST_CASE("no blob, however damaged, decodes to an address that a peer may not name") {
  const std::vector<DeviceAddress> others = {address_of("10.0.1.1"), address_of("fd00::2")};
  const auto sound = with_alternatives(address_of("10.0.0.1"), others);
  Rng rng(7);
  for (int round = 0; round < 20'000; ++round) {
    auto blob = sound;
    for (int i = 0; i < 3; ++i)
      blob.bytes[rng.below(blob.size)] = static_cast<std::byte>(rng.next());
    if (round % 3 == 0) blob.size = static_cast<std::uint8_t>(rng.below(256));
    for (const DeviceAddress& address : alternatives_in(blob)) {
      CHECK(address.ip.is_unicast());
      CHECK_FALSE(address.ip.is_link_scoped());
      CHECK(address.of(LocatorKind::kUdpPort).front().value >= kUdpPortMin);
    }
  }
}

}  // namespace dlcp::datapath::test
