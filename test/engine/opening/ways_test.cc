// The order in which pairs of addresses are tried.
#include "engine/opening/ways.h"

#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "datapath/address/address_alternatives.h"
#include "datapath/address/device_address.h"
#include "engine/devices/udp_access.h"

using namespace dlcp;
using datapath::DeviceAddress;
using engine::Device;
using engine::Way;

namespace {

datapath::IpAddress ip(const std::string& text) {
  return datapath::parse_ip_address(text).value();
}

// The name must not exist on this system, so that its index is 0.
Device device(const std::string& name, const std::string& address) {
  datapath::Interface interface;
  interface.name = name;
  interface.ip = ip(address);
  return {interface, {engine::udp_access(interface)}};
}

DeviceAddress at(const std::string& address) {
  DeviceAddress of;
  of.ip = ip(address);
  of.add(datapath::LocatorKind::kUdpPort, 50'000);
  return of;
}

// Subnets 10.0.N.0/24, each by a device with the address 10.0.N.1; a query with a source address is
// for that device only.
std::optional<datapath::KernelRoute> subnets(const datapath::RouteQuestion& question) {
  datapath::KernelRoute route;
  route.interface = 1 + question.to.bytes[2];
  if (question.from)
    return question.from->bytes[2] == question.to.bytes[2] ? std::optional(route) : std::nullopt;
  route.source = ip("10.0." + std::to_string(question.to.bytes[2]) + ".1");
  return route;
}

std::vector<std::pair<std::size_t, std::size_t>> pairs(const std::vector<Way>& ways) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const Way& way : ways)
    pairs.emplace_back(way.device, way.address);
  return pairs;
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

const std::vector<Device> kDevices = {device("none0", "10.0.0.1"), device("none1", "10.0.1.1")};

wire::EndpointAddress peer_of(const std::string& first, const std::vector<std::string>& others) {
  std::vector<DeviceAddress> more;
  for (const std::string& other : others)
    more.push_back(at(other));
  return with_alternatives(at(first), more);
}

}  // namespace

TEST_CASE(
    "the pair that NCCL assumes comes first if it has a route; the peer's other addresses follow") {
  const auto peer = peer_of("10.0.0.2", {"10.0.1.2"});
  CHECK(pairs(find_ways(kDevices, 0, peer, subnets)) == Pairs{{0, 0}, {1, 1}, {0, 1}});
}

TEST_CASE("if NICs are in another order, the device of the kernel's route comes first") {
  const auto peer = peer_of("10.0.1.2", {"10.0.0.2"});
  CHECK(pairs(find_ways(kDevices, 0, peer, subnets)) == Pairs{{1, 0}, {0, 0}, {0, 1}});
}

TEST_CASE("with one device and one address there is one pair") {
  const std::vector<Device> one = {kDevices[0]};
  CHECK(find_ways(one, 0, peer_of("10.0.0.2", {}), subnets).empty());
}

TEST_CASE("without route information the pair that NCCL assumes is tried first") {
  const auto nothing = [](const datapath::RouteQuestion&) -> std::optional<datapath::KernelRoute> {
    return std::nullopt;
  };
  const auto peer = peer_of("10.0.0.2", {"10.0.1.2"});
  CHECK(pairs(find_ways(kDevices, 1, peer, nothing)) == Pairs{{1, 0}, {1, 1}});
}

TEST_CASE(
    "the pair that answered is tried first from then on, and reported once if NCCL assumes "
    "another") {
  engine::WayBook book(subnets);
  const auto peer = peer_of("10.0.0.2", {"10.0.1.2"});
  const auto before = book.ways(kDevices, 0, peer);
  CHECK_FALSE(before.is_confirmed);
  CHECK(book.remember(kDevices, 0, peer, before.all[1]) ==
        "connections of none0 (10.0.0.1) to 10.0.0.2 go from none1 (10.0.1.1) to 10.0.1.2, the "
        "pair of addresses that answers; NCCL's topology assumes none0 to 10.0.0.2");
  CHECK(book.remember(kDevices, 0, peer, before.all[1]).empty());
  const auto after = book.ways(kDevices, 0, peer);
  CHECK(after.is_confirmed);
  CHECK(pairs(after.all) == Pairs{{1, 1}, {0, 0}, {0, 1}});
  CHECK(book.remember(kDevices, 0, peer, before.all[0])
            .empty());  // nothing to report: NCCL assumes this pair
  CHECK(pairs(book.ways(kDevices, 0, peer).all).front() ==
        std::pair<std::size_t, std::size_t>{0, 0});
}
