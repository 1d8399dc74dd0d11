// SONiC: rows are checked against its fields and ranges, which are data
// (switch/targets/sonic.json).
#include "catch.h"
#include "sonic_leaf.h"
#include "switch/vendors/sonic/document.h"

using namespace dlcp::fabric;
using namespace dlcp::test;

TEST_CASE("rows that SONiC does not accept are refused, whatever wrote them") {
  using sonic::RowChange;
  const auto faults = [](const char* table, const char* key, const Json& row) {
    const Json config = {{"SCHEDULER", {{"scheduler.0", {{"type", "DWRR"}}}}}};
    sonic::Patch patch{"10-definitions", {}, {}};
    patch.rows.push_back(RowChange{table, key, std::nullopt, row, Impact::kHitless});
    std::string text;
    for (const auto& problem : sonic::check_rows(config, {patch}))
      text += to_text(problem) + "\n";
    return text;
  };
  CHECK(faults("SCHEDULER", "DLCP-bulk", {{"type", "DWRR"}, {"weight", "100"}}).empty());
  CHECK(faults("QUEUE", "Ethernet0|3", {{"scheduler", "scheduler.0"}}).empty());
  CHECK(faults("BUFFER_PROFILE", "DLCP-lossy-m8", {{"dynamic_th", "-8"}}).empty());
  CHECK(faults("PORT_QOS_MAP", "Ethernet0", {{"pfcwd_sw_enable", "3,4"}}).empty());
  const auto refused = [&](const char* table, const char* key, const Json& row, const char* why) {
    INFO(table << " " << row.dump());
    CHECK_THAT(faults(table, key, row), Contains(why));
  };
  refused("SCHEDULER", "DLCP-bulk", {{"weight", "101"}}, "expected 1..100");
  refused("SCHEDULER", "DLCP-bulk", {{"weight", 7}}, "a string");
  refused("SCHEDULER", "DLCP-bulk", {{"weight", "7,8"}}, "expected 1..100");
  refused("SCHEDULER", "DLCP-bulk", {{"priority", "1"}}, "a field that SONiC has");
  refused("SCHEDULER", "DLCP-bulk", {{"pir", "5"}}, "a row that also has cir");
  refused("SCHEDULER", "DLCP-bulk", {{"cir", "9"}, {"pir", "5"}}, "at least cir 9");
  refused("QUEUE", "Ethernet0|3", {{"scheduler", "GONE"}}, "a row of SCHEDULER");
  refused("BUFFER_PROFILE", "DLCP-lossy-8", {{"dynamic_th", "8"}}, "expected -8..7");
  refused("BUFFER_PROFILE", "DLCP-lossy-8", {{"dynamic_th", "-"}}, "expected -8..7");
  refused("PORT_QOS_MAP", "Ethernet0", {{"pfcwd_sw_enable", "3,8"}}, "expected 0..7");
  refused("PORT_QOS_MAP", "Ethernet0", {{"pfcwd_sw_enable", "3,"}}, "a field that SONiC has");
  refused("DSCP_TO_TC_MAP", "DLCP-map", {{"64", "1"}}, "expected 0..63");
  refused("DSCP_TO_TC_MAP", "DLCP-map", {{"63", "16"}}, "expected 0..15");
  refused("DSCP_TO_TC_MAP", "no good name", {{"63", "1"}}, "at most 32 characters");
  refused("WRED_PROFILE", "DLCP-bulk",
          {{"green_min_threshold", "2147483647"}, {"green_max_threshold", "1"}},
          "at least green_min_threshold 2147483647");
  refused("WRED_PROFILE", "DLCP-bulk", {{"ecn", "ecn_blue"}}, "one of |ecn_none|");
  refused("SWITCH_HASH", "GLOBAL", {{"ecmp_hash", {"L4_SRC_PORT", "MOON"}}}, "MOON");
}

TEST_CASE("a queue that an earlier plan has used, and this plan leaves to the site, is refused") {
  const Json before = applied(leaf(), render_ok(plan_of(leaf())));
  const auto refusal_of_plan = [&before](std::array<int, 4> queues) {
    const auto site = import_text(dlcp::test::sonic(), before.dump(1));
    return problems_of(dlcp::test::sonic().render(make_plan(site, kHosts, kUplinks, queues)));
  };
  CHECK(refusal_of_plan({7, 5, 4, 2}).empty());
  const auto text = refusal_of_plan({7, 5, 4, 1});
  CHECK_THAT(text, Contains("queue 2 has a row of an earlier plan"));
  CHECK_THAT(text, Contains("QUEUE|Ethernet0|2"));
  CHECK_THAT(text, Contains("rollback.sh of its folder"));
}

TEST_CASE("a port without a dscp_to_tc_map is reported, because its packets get other classes") {
  auto config = leaf();
  config["PORT_QOS_MAP"]["Ethernet8"].erase("dscp_to_tc_map");
  const auto said = refusal_of(config);
  CHECK_THAT(said, Contains("warning: leaf1: port Ethernet8 has no dscp_to_tc_map: "));
  CHECK_THAT(said, Contains("classes of a copy of ROCE"));
  config["PORT_QOS_MAP"].erase("Ethernet0");
  CHECK_THAT(refusal_of(config), Contains("Ethernet0 has no dscp_to_tc_map (2 ports)"));
  config["PORT_QOS_MAP"]["global"]["dscp_to_tc_map"] = "ROCE";  // for ports without one
  CHECK_THAT(refusal_of(config), !Contains("has no dscp_to_tc_map"));
}

TEST_CASE("tunnels cause a warning, because they may set DSCPs") {
  auto config = leaf();
  config["VXLAN_TUNNEL"]["vtep"]["src_ip"] = "10.0.0.1";
  const auto imported = dlcp::test::sonic().import({"running", config.dump(1)});
  REQUIRE(imported.value);
  REQUIRE(imported.problems.size() == 1);
  CHECK_THAT(to_text(imported.problems.front()), Contains("warning: tunnels are configured"));
}
