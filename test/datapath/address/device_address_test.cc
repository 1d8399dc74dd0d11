// Addresses as text and as the blob that peers exchange.
#include "datapath/address/device_address.h"

#include <algorithm>

#include "catch.h"
#include "util/rng.h"

namespace dlcp::datapath::test {
namespace {

DeviceAddress address_of(const char* ip, std::size_t ports) {
  DeviceAddress address;
  address.ip = parse_ip_address(ip).value();
  for (std::uint32_t i = 0; i < ports; ++i)
    address.add(LocatorKind::kUdpPort, 49152 + 1000 * i);
  return address;
}

}  // namespace

TEST_CASE("an address survives encoding and decoding, for both families and any number of ports") {
  for (const char* ip : {"10.0.0.1", "fd00::1234", "fe80::1%7"}) {
    for (const std::size_t ports : {1, 15, 16}) {
      INFO(ip << " " << ports);
      const DeviceAddress address = address_of(ip, ports);
      const auto decoded = decode_device_address(encode(address));
      REQUIRE(decoded);
      CHECK(*decoded == address);
    }
  }
}

TEST_CASE("an address is formatted in its usual notation") {
  CHECK(to_string(address_of("10.0.0.1", 16)) == "10.0.0.1:49152(+15)");
  CHECK(to_string(address_of("10.0.0.1", 1)) == "10.0.0.1:49152");
  CHECK(to_string(address_of("fe80::1%3", 2)) == "[fe80::1%3]:49152(+1)");
}

TEST_CASE("a blob of every wrong length is refused") {
  wire::EndpointAddress blob = encode(address_of("fd00::1", 16));
  const std::uint8_t right = blob.size;
  for (unsigned size = 0; size < 256; ++size) {
    blob.size = static_cast<std::uint8_t>(size);
    CHECK(decode_device_address(blob).has_value() == (size == right));
  }
}

TEST_CASE("a blob that names no host, a well-known port or another layout is refused") {
  const auto with = [](DeviceAddress address, auto&& change) {
    change(address);
    return decode_device_address(encode(address)).has_value();
  };
  const DeviceAddress good = address_of("10.0.0.1", 2);
  CHECK(with(
      good, [](DeviceAddress&) {}));
  CHECK(with(
      good, [](DeviceAddress& a) { a.add(LocatorKind::kUdpPort, 49152); }));
  CHECK_FALSE(with(
      good, [](DeviceAddress& a) { a.add(LocatorKind::kUdpPort, 53); }));
  CHECK_FALSE(with(
      good, [](DeviceAddress& a) { a.add(LocatorKind::kUdpPort, 49151); }));
  CHECK_FALSE(with(good, [](DeviceAddress& a) { a.add(LocatorKind::kQueuePair, 0); }));
  CHECK_FALSE(with(
      address_of("10.0.0.1", 0), [](DeviceAddress&) {}));
  CHECK_FALSE(with(good, [](DeviceAddress& a) { a.ip.scope = 3; }));  // IPv4 has none
  for (const char* ip :
       {"0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "ff02::1", "::ffff:1.2.3.4"}) {
    INFO(ip);
    CHECK_FALSE(with(address_of(ip, 1), [](DeviceAddress&) {}));
  }
  wire::EndpointAddress blob = encode(good);
  blob.bytes[0] = std::byte{5};
  CHECK_FALSE(decode_device_address(blob));
  blob = encode(good);
  blob.bytes[9] = std::byte{0x31};  // ports of three bytes
  CHECK_FALSE(decode_device_address(blob));
}

TEST_CASE("locators of an unknown kind are skipped") {
  const DeviceAddress good = address_of("10.0.0.1", 2);
  wire::EndpointAddress blob = encode(good);
  const auto append = [&](std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes)
      blob.bytes[blob.size++] = static_cast<std::byte>(byte);
  };
  append({0x4f, 2, 1, 2, 3, 4, 5, 6, 7, 8});  // two of kind 15, four bytes each
  CHECK(decode_device_address(blob) == good);
  append({0x4f, 2, 1});  // truncated
  CHECK_FALSE(decode_device_address(blob));
}

TEST_CASE("a blob identifies its host without further information") {
  const auto v4 = wire::host_of(encode(address_of("10.1.2.3", 1)));
  const auto v6 = wire::host_of(encode(address_of("fd00::1234", 1)));
  const std::array<std::byte, 4> ip = {std::byte{10}, std::byte{1}, std::byte{2}, std::byte{3}};
  CHECK(v4 == wire::host_address(ip));
  CHECK(v6.known());
  CHECK_FALSE(v6 == v4);
  CHECK(v6 == wire::host_of(encode(address_of("fd00::1234", 7))));
  CHECK_FALSE(wire::host_of({}).known());
}

TEST_CASE("an address of UDP and RoCE has both locators; one of RoCE only has no ports") {
  DeviceAddress both = address_of("fd00::1", kUdpPortsMax);
  both.add(LocatorKind::kQueuePair, 0xabcdef);
  CHECK(encode(both).size == wire::EndpointAddress::kMaxBytes);
  CHECK(decode_device_address(encode(both)) == both);
  DeviceAddress turned = address_of("fd00::1", 0);
  turned.add(LocatorKind::kQueuePair, 0xabcdef);
  for (const Locator& port : both.of(LocatorKind::kUdpPort))
    turned.add(port.kind, port.value);
  CHECK(turned == both);
  DeviceAddress roce = address_of("10.0.0.1", 0);
  roce.add(LocatorKind::kQueuePair, 17);
  CHECK(decode_device_address(encode(roce)) == roce);
  CHECK(to_string(roce) == "10.0.0.1 queue pair 17");
  wire::EndpointAddress blob = encode(roce);
  blob.bytes[10] = std::byte{2};  // two queue pairs
  CHECK_FALSE(decode_device_address(blob));
}

TEST_CASE("an address is split by kind, and joined again") {
  DeviceAddress both = address_of("fe80::1%3", 2);
  both.add(LocatorKind::kQueuePair, 17);
  const DeviceAddress udp = both.only(LocatorKind::kUdpPort);
  const DeviceAddress roce = both.only(LocatorKind::kQueuePair);
  CHECK(udp == address_of("fe80::1%3", 2));
  CHECK_FALSE(udp.has(LocatorKind::kQueuePair));
  CHECK(roce.ip.scope == 0);  // a GID is a complete address
  REQUIRE(roce.locators().size() == 1);
  CHECK(roce.of(LocatorKind::kQueuePair).front().value == 17);
  CHECK(join(udp, roce) == both);
  CHECK(join(both, address_of("fe80::1%3", 1)) ==
        both);  // if both have a kind, the first's is used
  CHECK(both.only(static_cast<LocatorKind>(9)).locators().empty());
  wire::EndpointAddress blob = encode(udp);
  for (const unsigned byte : {0x21u, 1u, 0xc0u, 0u})  // a second list of ports
    blob.bytes[blob.size++] = static_cast<std::byte>(byte);
  CHECK_FALSE(decode_device_address(blob));
}

TEST_CASE("any random blob that decodes encodes to an equivalent blob") {
  Rng rng(17);
  int decoded_count = 0;
  for (int i = 0; i < 200000; ++i) {
    wire::EndpointAddress blob;
    blob.size = static_cast<std::uint8_t>(rng.below(64));
    for (std::size_t j = 0; j < std::min<std::size_t>(blob.size, blob.bytes.size()); ++j)
      blob.bytes[j] = static_cast<std::byte>(rng.next());
    if (rng.below(2) == 0) {  // similar enough to pass the first checks
      blob.bytes[0] = std::byte{4};
      std::fill_n(blob.bytes.begin() + 5, 4, std::byte{0});
      blob.bytes[9] = std::byte{0x21};
      blob.bytes[10] = std::byte{1};
      blob.size = 13;
      std::fill(blob.bytes.begin() + 13, blob.bytes.end(), std::byte{0});
    }
    if (const auto address = decode_device_address(blob)) {
      ++decoded_count;
      CHECK(decode_device_address(encode(*address)) == address);
    }
  }
  CHECK(decoded_count > 1000);
}

TEST_CASE("text that is not an address is refused with the reason") {
  CHECK(to_string(parse_ip_address("fe80::1%lo").value()).rfind("fe80::1%", 0) == 0);
  for (const char* text :
       {"", "10.0.0", "10.0.0.1%eth0", "host", "fe80::1%no-such-if", "fe80::1%"}) {
    INFO(text);
    const auto parsed = parse_ip_address(text);
    REQUIRE_FALSE(parsed);
    CHECK_THAT(parsed.error().message(), Contains(std::string("\"") + text + "\""));
  }
}

}  // namespace dlcp::datapath::test
