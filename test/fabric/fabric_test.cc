// The structure of a fabric, and which fabrics are invalid.
#include "fabric/fabric.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::fabric;

namespace {

// Two pods of two leaves of two hosts.
Fabric two_pods() {
  Fabric fabric;
  for (int i = 0; i < 8; ++i)
    fabric.hosts.push_back({"h" + std::to_string(i), {}, 100, 1, false, false});
  fabric.groups = {{"fabric", -1, 0, 30, false}, {"pod0", 0, 100, 20, false},
                   {"pod1", 0, 100, 22, false},  {"leaf0", 1, 50, 10, false},
                   {"leaf1", 1, 50, 10, false},  {"leaf2", 2, 50, 10, false},
                   {"leaf3", 2, 50, 11, false}};
  fabric.group_of = {3, 3, 4, 4, 5, 5, 6, 6};
  return fabric;
}

}  // namespace

TEST_CASE("the smallest common group of two hosts gives their distance") {
  const Fabric fabric = two_pods();
  REQUIRE(check(fabric).ok());
  CHECK(common_group(fabric, 0, 1) == 3);
  CHECK(common_group(fabric, 0, 2) == 1);
  CHECK(common_group(fabric, 0, 7) == 0);
  CHECK(round_trip_us(fabric, 6, 7) == 11);
  CHECK(round_trip_us(fabric, 4, 7) == 22);
  CHECK(round_trip_us(fabric, 3, 4) == 30);
  CHECK(round_trip_us(fabric, 3, 3) == 0);
  CHECK(depth_of(fabric, 0) == 0);
  CHECK(depth_of(fabric, 6) == 2);
}

TEST_CASE("groups contain their subgroups' hosts") {
  const auto of = members(two_pods());
  CHECK(of[0].size() == 8);
  CHECK(of[2] == std::vector<int>{4, 5, 6, 7});
  CHECK(of[4] == std::vector<int>{2, 3});
  CHECK(leaves(two_pods()) == std::vector<int>{3, 4, 5, 6});
  CHECK(leaves(Fabric::flat(two_pods().hosts)) == std::vector<int>{0});
}

TEST_CASE("a host is looked up by name first, and then by address") {
  Fabric fabric = two_pods();
  fabric.hosts[3].addresses = {"10.0.0.3", "fd00::3"};
  fabric.hosts[5].name = "10.0.0.3";
  CHECK(find_host(fabric, "h2") == 2);
  CHECK(find_host(fabric, "fd00::3") == 3);
  CHECK(find_host(fabric, "10.0.0.3") == 5);
  CHECK(find_host(fabric, "h9") == -1);
}

TEST_CASE("an invalid fabric is refused with the reason") {
  const auto complaint = [](auto&& change) {
    Fabric fabric = two_pods();
    change(fabric);
    const Status status = check(fabric);
    REQUIRE_FALSE(status.ok());
    return status.error().message();
  };
  CHECK_THAT(complaint([](Fabric& f) { f.hosts[1].name = "h0"; }),
             Contains("two hosts") && Contains("h0"));
  CHECK_THAT(complaint([](Fabric& f) { f.hosts[1].name = "a\nb"; }),
             Contains("control characters"));
  CHECK_THAT(complaint([](Fabric& f) { f.hosts[1].gb_per_s = -1; }), Contains("gb_per_s is -1"));
  CHECK_THAT(complaint([](Fabric& f) { f.hosts[1].slots = 0; }), Contains("slots 0"));
  CHECK_THAT(complaint([](Fabric& f) { f.groups[1].parent = 4; }), Contains("pod0"));
  CHECK_THAT(complaint([](Fabric& f) { f.groups[0].parent = 0; }), Contains("fabric"));
  CHECK_THAT(complaint([](Fabric& f) { f.groups[2].name = "leaf0"; }), Contains("two groups"));
  CHECK_THAT(complaint([](Fabric& f) { f.group_of[7] = 9; }), Contains("h7"));
  CHECK_THAT(complaint([](Fabric& f) { f.group_of.pop_back(); }), Contains("8 hosts"));
  CHECK_THAT(complaint([](Fabric& f) { f.hosts.clear(); }), Contains("0 hosts"));
}
