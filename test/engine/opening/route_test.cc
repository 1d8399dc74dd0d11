// The carrier that two ranks use, for every combination of what they have.
#include "engine/opening/route.h"

#include <vector>

#include "catch.h"
#include "datapath/address/device_address.h"

namespace dlcp::engine {
namespace {

using datapath::DeviceAddress;

DeviceAddress at(const char* ip, bool roce, bool udp) {
  DeviceAddress address;
  address.ip = datapath::parse_ip_address(ip).value();
  if (udp) {
    address.add(datapath::LocatorKind::kUdpPort, 50000);
    address.add(datapath::LocatorKind::kUdpPort, 50001);
  }
  if (roce) address.add(datapath::LocatorKind::kQueuePair, 17);
  return address;
}

struct Rank {
  const char* ip = "10.0.0.1";
  bool roce = false;
  bool udp = false;

  std::optional<wire::EndpointAddress> roce_address() const {
    return roce ? std::optional(encode(at(ip, true, false))) : std::nullopt;
  }
  std::optional<wire::EndpointAddress> udp_address() const {
    return udp ? std::optional(encode(at(ip, false, true))) : std::nullopt;
  }
  wire::EndpointAddress address() const { return encode(at(ip, roce, udp)); }
};

Result<Route> route(const Rank& here, const Rank& there) {
  std::vector<LocalAddress> ours;
  if (here.roce) ours.push_back({&kRoce, *here.roce_address()});
  if (here.udp) ours.push_back({&kUdp, *here.udp_address()});
  return choose_route(ours, there.address());
}

constexpr Rank kBoth{"10.0.0.1", true, true};
constexpr Rank kUdpOnly{"10.0.0.2", false, true};
constexpr Rank kRoceOnly{"10.0.0.3", true, false};

}  // namespace

TEST_CASE("two ranks with RoCE use it, each with the other's queue pair only") {
  for (const Rank& here : {kBoth, kRoceOnly}) {
    for (const Rank& there : {kBoth, kRoceOnly}) {
      auto chosen = route(here, there);
      REQUIRE(chosen);
      CHECK(chosen->over == &kRoce);
      CHECK(chosen->to == encode(at(there.ip, true, false)));
      CHECK(chosen->fallback.empty());
    }
  }
}

TEST_CASE("if one rank has no RoCE both use UDP, and a message says so if RoCE was possible") {
  auto away = route(kBoth, kUdpOnly);
  REQUIRE(away);
  CHECK(away->over == &kUdp);
  CHECK(away->to == encode(at(kUdpOnly.ip, false, true)));
  CHECK(
      away->fallback ==
      "over UDP instead of RoCE: the peer at 10.0.0.2 does not use RoCE, but this rank at 10.0.0.1 "
      "does");
  auto back = route(kUdpOnly, kBoth);
  REQUIRE(back);
  CHECK(back->over == &kUdp);
  CHECK(back->to == encode(at(kBoth.ip, false, true)));
  CHECK(back->fallback ==
        "over UDP instead of RoCE: this rank does not use RoCE, but the peer at 10.0.0.1 does");
  auto plain = route(kUdpOnly, kUdpOnly);
  REQUIRE(plain);
  CHECK(plain->over == &kUdp);
  CHECK(plain->fallback.empty());
}

TEST_CASE("addresses of two families do not match, whatever the carrier") {
  auto chosen = route(kBoth, {"fd00::2", true, true});
  REQUIRE_FALSE(chosen);
  CHECK_THAT(chosen.error().what,
             Contains("RoCE addresses are 10.0.0.1 (IPv4) here and fd00::2 (IPv6) there") &&
                 Contains("UDP addresses are 10.0.0.1 (IPv4) here and fd00::2 (IPv6) there"));
  CHECK_THAT(chosen.error().hint, Contains("DLCP_IFNAME"));
}

TEST_CASE("after a failed carrier only later ones in the order are considered") {
  const std::vector<LocalAddress> ours{{&kRoce, *kBoth.roce_address()},
                                       {&kUdp, *kBoth.udp_address()}};
  const wire::EndpointAddress peer = Rank{"10.0.0.4", true, true}.address();
  CHECK(choose_route(ours, peer)->over == &kRoce);
  CHECK(choose_route(ours, peer, &kRoce)->over == &kUdp);
  CHECK(choose_route(ours, peer, &kRoce)->fallback.empty());
  CHECK_FALSE(choose_route(ours, peer, &kUdp));
}

TEST_CASE("ranks without a common carrier get an error with the settings of both") {
  auto here = route(kRoceOnly, kUdpOnly);
  REQUIRE_FALSE(here);
  CHECK(here.error().code == ErrorCode::kInvalidUsage);
  CHECK(here.error().what ==
        "the peer at 10.0.0.2 does not use RoCE, but this rank at 10.0.0.3 does; this rank does "
        "not use UDP, but the peer at 10.0.0.2 does");
  auto there = route(kUdpOnly, kRoceOnly);
  REQUIRE_FALSE(there);
  CHECK_THAT(there.error().what,
             Contains("the peer at 10.0.0.3 does not use UDP, but this rank at 10.0.0.2 does"));
  CHECK_FALSE(choose_route(std::vector<LocalAddress>{{&kUdp, *kBoth.udp_address()}}, {}));
}

TEST_CASE("two addresses of one host are joined into one with both locators") {
  auto joined = join(*kBoth.roce_address(), *kBoth.udp_address());
  REQUIRE(joined);
  CHECK(*joined == kBoth.address());
  CHECK_FALSE(join(*kBoth.roce_address(), *kUdpOnly.udp_address()));
}

}  // namespace dlcp::engine
