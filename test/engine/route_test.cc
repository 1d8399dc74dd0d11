// Over what two ranks talk: every combination of what they have.
#include "engine/route.h"

#include "catch.h"
#include "datapath/udp/udp_address.h"

namespace dlcp::engine {
namespace {

using datapath::UdpAddress;

UdpAddress at(const char* ip, bool roce, bool udp) {
  UdpAddress address;
  address.ip = datapath::parse_ip_address(ip).value();
  address.queue_pair = roce ? 17 : 0;
  address.port_count = udp ? 2 : 0;
  address.ports = udp ? decltype(address.ports){50000, 50001} : decltype(address.ports){};
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
  return choose_route(here.roce_address(), here.udp_address(), there.address());
}

constexpr Rank kBoth{"10.0.0.1", true, true};
constexpr Rank kUdpOnly{"10.0.0.2", false, true};
constexpr Rank kRoceOnly{"10.0.0.3", true, false};

}  // namespace

TEST_CASE("two ranks that have RoCE use it, each the other's queue pair and nothing else") {
  for (const Rank& here : {kBoth, kRoceOnly}) {
    for (const Rank& there : {kBoth, kRoceOnly}) {
      auto chosen = route(here, there);
      REQUIRE(chosen);
      CHECK(chosen->over == Carrier::kRoce);
      CHECK(chosen->to == encode(at(there.ip, true, false)));
      CHECK(chosen->why_not_roce.empty());
    }
  }
}

TEST_CASE("a rank without RoCE makes both ends use UDP, and that is said where RoCE was possible") {
  auto away = route(kBoth, kUdpOnly);
  REQUIRE(away);
  CHECK(away->over == Carrier::kUdp);
  CHECK(away->to == encode(at(kUdpOnly.ip, false, true)));
  CHECK(away->why_not_roce == "the peer at 10.0.0.2 does not use RoCE, this rank at 10.0.0.1 does");
  auto back = route(kUdpOnly, kBoth);
  REQUIRE(back);
  CHECK(back->over == Carrier::kUdp);
  CHECK(back->to == encode(at(kBoth.ip, false, true)));
  CHECK(back->why_not_roce == "this rank does not use RoCE, the peer at 10.0.0.1 does");
  auto plain = route(kUdpOnly, kUdpOnly);
  REQUIRE(plain);
  CHECK(plain->over == Carrier::kUdp);
  CHECK(plain->why_not_roce.empty());
}

TEST_CASE("RoCE addresses of two families go over UDP") {
  auto chosen = route(kBoth, {"fd00::2", true, true});
  REQUIRE(chosen);
  CHECK(chosen->over == Carrier::kUdp);
  CHECK_THAT(chosen->why_not_roce, Contains("10.0.0.1 here and fd00::2 there"));
}

TEST_CASE("ranks with nothing in common are told what each of them is set to") {
  auto here = route(kRoceOnly, kUdpOnly);
  REQUIRE_FALSE(here);
  CHECK(here.error().code == ErrorCode::kInvalidUsage);
  CHECK(here.error().what ==
        "the peer at 10.0.0.2 does not use RoCE, this rank at 10.0.0.3 does, and this rank is set "
        "to do without UDP");
  auto there = route(kUdpOnly, kRoceOnly);
  REQUIRE_FALSE(there);
  CHECK_THAT(there.error().what, Contains("the peer's rank is set to do without UDP"));
  CHECK_FALSE(choose_route(kBoth.roce_address(), kBoth.udp_address(), {}));
}

TEST_CASE("two addresses of one host are joined into one that says both") {
  auto joined = join(*kBoth.roce_address(), *kBoth.udp_address());
  REQUIRE(joined);
  CHECK(*joined == kBoth.address());
  CHECK_FALSE(join(*kBoth.roce_address(), *kUdpOnly.udp_address()));
}

}  // namespace dlcp::engine
