// SONiC: the treatment of DLCP's DSCPs from ports without a DLCP sender.
#include "catch.h"
#include "sonic_leaf.h"
#include "switch/check/trace.h"
#include "switch/plan/remarking.h"

using namespace dlcp;
using namespace dlcp::fabric;
using namespace dlcp::test;

TEST_CASE(
    "a port without DLCP senders keeps the site's map, or classifies DLCP's DSCPs as configured") {
  const Json before = leaf();
  auto plan = plan_of(before);
  plan.groups[0].group.trust = Trust::kRemarked;
  SECTION("the site's map is kept if it does so already") {
    plan.groups[0].group.remark_dscp = 0;
    const Json after = applied(before, render_ok(plan));
    CHECK(after["PORT_QOS_MAP"]["Ethernet0"]["dscp_to_tc_map"] == "ROCE");
    CHECK(after["PORT_QOS_MAP"]["Ethernet32"]["dscp_to_tc_map"] == "DLCP-ROCE");
  }
  SECTION("otherwise a map of DLCP does so") {
    plan.groups[0].group.remark_dscp = 48;
    const auto rendering = render_ok(plan);
    const Json after = applied(before, rendering);
    CHECK(after["PORT_QOS_MAP"]["Ethernet0"]["dscp_to_tc_map"] == "DLCP-as-48");
    CHECK(after["DSCP_TO_TC_MAP"]["DLCP-as-48"]["40"] == "6");
    CHECK(after["DSCP_TO_TC_MAP"]["DLCP-as-48"]["26"] == "3");
    CHECK(patched(after, rendering, FileKind::kRollback) == before);
    const auto site = import_text(sonic(), after.dump());
    auto again = make_plan(site, kHosts, kUplinks);
    again.groups[0].group.trust = Trust::kRemarked;
    again.groups[0].group.remark_dscp = 48;
    CHECK(render_ok(again).changes.empty());
  }
}

TEST_CASE("a separate traffic class removes DLCP's DSCPs from packets of untrusted ports") {
  const Json before = leaf();
  auto plan = plan_of(before);
  plan.groups[0].group.trust = Trust::kRemarked;
  plan.groups[0].group.remark_dscp = 48;
  plan.capabilities.remarking = Remarking::kBySpareClass;
  plan_remarking(plan);
  REQUIRE(plan.remark_classes.size() == 1);
  const auto spare = std::to_string(plan.remark_classes.at(48));
  for (int dscp = 0; dscp < kDscpCount; ++dscp)
    CHECK(before["DSCP_TO_TC_MAP"]["ROCE"].value(std::to_string(dscp), "0") != spare);
  const auto rendering = render_ok(plan);
  const Json after = applied(before, rendering);
  CHECK(after["DSCP_TO_TC_MAP"]["DLCP-as-48"]["40"] == spare);
  CHECK(after["TC_TO_QUEUE_MAP"]["DLCP-ROCE"][spare] == "6");  // like DSCP 48 itself
  CHECK(after["TC_TO_DSCP_MAP"]["DLCP-map"] == Json({{spare, "48"}}));
  CHECK(after["PORT_QOS_MAP"]["Ethernet32"]["tc_to_dscp_map"] == "DLCP-map");
  CHECK_FALSE(after["PORT_QOS_MAP"]["Ethernet0"].contains("tc_to_dscp_map"));
  CHECK(leaving_dscp(plan, plan.groups[0].group, "Ethernet32", 40) == 48);
  CHECK(leaving_dscp(plan, plan.groups[0].group, "Ethernet0", 40) == 40);
  CHECK(patched(after, rendering, FileKind::kRollback) == before);
  auto again = plan_of(after);
  again.groups[0].group.trust = Trust::kRemarked;
  again.groups[0].group.remark_dscp = 48;
  again.capabilities.remarking = Remarking::kBySpareClass;
  plan_remarking(again);
  CHECK(render_ok(again).changes.empty());
  const Json trusted = applied(after, render_ok(plan_of(after)));
  CHECK_FALSE(trusted["PORT_QOS_MAP"]["Ethernet32"].contains("tc_to_dscp_map"));
  CHECK(trusted.value("TC_TO_DSCP_MAP", Json::object()).empty());
}

TEST_CASE("without a fabric port, no class is reserved for DSCPs that are not rewritten") {
  auto plan = plan_of(leaf());
  for (auto& group : plan.groups)
    group.group.role = PortRole::kHost;
  plan.groups[0].group.trust = Trust::kRemarked;
  plan.capabilities.remarking = Remarking::kBySpareClass;
  plan_remarking(plan);
  CHECK(plan.remark_classes.empty());
  CHECK_FALSE(rewrites_marks(plan, plan.groups[0].group));
  CHECK_FALSE(remark_warning(plan).empty());
}
