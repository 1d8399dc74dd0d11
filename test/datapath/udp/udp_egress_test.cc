// Packets of a device keep to its interface, also if the interface or its routes change.
#include <net/if.h>

#include <string>
#include <vector>

#include "catch.h"
#include "datapath/udp/send/egress.h"
#include "udp_namespace.h"
#include "udp_traffic.h"

namespace dlcp::datapath::test {
namespace {

IpAddress ip(const char* text) {
  return parse_ip_address(text).value();
}

const std::string kCard1 =
    "ip link add e1 type veth peer name p1 && ip addr add 10.20.1.1/24 dev e1 && "
    "ip link set p1 up && ip link set e1 up";
const std::string kRoute1 = "ip route add default via 10.20.1.2 metric 20";

// Cards e0 and e1 with a default route each, of which the kernel prefers that of e0.
std::vector<std::string> two_cards() {
  return {// New namespaces take these values from the host, and strict filters change the choice.
          "echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter && "
          "echo 0 > /proc/sys/net/ipv4/conf/default/rp_filter",
          "ip link add e0 type veth peer name p0 && ip addr add 10.20.0.1/24 dev e0 && "
          "ip link set p0 up && ip link set e0 up",
          kCard1, "ip route add default via 10.20.0.2 metric 10", kRoute1};
}

int index_of(const char* name) {
  return static_cast<int>(::if_nametoindex(name));
}

}  // namespace

TEST_CASE("packets follow an interface whose route is missing for a while, or that is recreated") {
  const IpAddress peer = ip("192.0.2.1");
  std::vector<int> links;
  int first = 0;
  int second = 0;
  const bool ran = in_namespace(two_cards(), [&] {
    Egress egress(ip("10.20.1.1"), "e1");
    const auto look = [&](Duration at) { links.push_back(egress.link_for(peer, Time(at))); };
    first = index_of("e1");
    look(0s);
    succeeds("ip link del e1");
    look(1s);  // the kernel has not reported an error yet
    egress.forget(peer);
    look(1s);
    succeeds(kCard1);
    look(2s - 1ns);
    look(2s);  // the interface is back, its route is not
    succeeds(kRoute1);
    look(4s - 1ns);
    look(4s);
    second = index_of("e1");
  });
  if (!ran) {
    WARN("skipped: no network namespace here");
    return;
  }
  CHECK(first != second);
  CHECK(links == std::vector<int>{first, first, 0, 0, 0, 0, second});
}

TEST_CASE("an error of one peer's route leaves the routes to other peers known") {
  const IpAddress other = ip("192.0.2.2");
  std::vector<int> links;
  int first = 0;
  const bool ran = in_namespace(two_cards(), [&] {
    Egress egress(ip("10.20.1.1"), "e1");
    first = index_of("e1");
    const auto look = [&](const IpAddress& peer) {
      links.push_back(egress.link_for(peer, Time()));
    };
    look(ip("192.0.2.1"));
    look(other);
    succeeds("ip link del e1");
    egress.forget(ip("192.0.2.1"));
    look(ip("192.0.2.1"));
    look(other);
  });
  if (!ran) {
    WARN("skipped: no network namespace here");
    return;
  }
  CHECK(links == std::vector<int>{first, first, 0, first});
}

TEST_CASE("a device whose address was removed reports this, and the peer that gets nothing") {
  PathReport before, after, reason;
  bool refused_before = true;
  bool is_named = false;
  bool is_named_again = true;
  const bool ran = in_namespace(two_cards(), [&] {
    UdpOptions options = loopback_options();
    options.local_ip = ip("10.20.1.1");
    const auto datapath = open_datapath(options);
    DeviceAddress peer;
    peer.ip = ip("192.0.2.1");
    peer.add(LocatorKind::kUdpPort, 50'000);
    const wire::EndpointAddress to = encode(peer);
    Packets packets(to);
    packets.add(100);
    datapath->send(packets.all());
    before = datapath->last_report(to);
    refused_before = datapath->take_refused_peer().has_value();
    succeeds("ip addr del 10.20.1.1/24 dev e1");
    datapath->send(packets.all());
    after = datapath->last_report(to);
    const auto refused = datapath->take_refused_peer();
    is_named = refused && refused->address == to;
    if (refused) reason = datapath->report_of(*refused);
    is_named_again = datapath->take_refused_peer().has_value();
  });
  if (!ran) {
    WARN("skipped: no network namespace here");
    return;
  }
  CHECK(before.kind == PathReport::Kind::kNothing);
  CHECK(after.kind == PathReport::Kind::kNoAddress);
  CHECK(after.from == "10.20.1.1");
  CHECK_FALSE(refused_before);
  CHECK(is_named);
  CHECK(reason.kind == PathReport::Kind::kNoAddress);
  CHECK_FALSE(is_named_again);
}

}  // namespace dlcp::datapath::test
