// SONiC: a change adds DLCP's rows, replaces those of its queues and ports, and changes nothing
// else. Its rollback restores the imported configuration byte for byte.
#include <set>

#include "catch.h"
#include "dlcp/traffic_class.h"
#include "sonic_leaf.h"

using namespace dlcp;
using namespace dlcp::fabric;
using namespace dlcp::test;

TEST_CASE("the import of a config_db contains the site's DSCPs, queues, PFC and buffers") {
  const auto site = import_text(sonic(), leaf().dump());
  CHECK(site.imported);
  CHECK(site.dscp_to_class[26] == 3);
  CHECK(site.dscp_to_class[40] == 0);
  CHECK(site.default_class == 0);
  CHECK(site.class_to_queue[6] == 6);
  CHECK(site.class_to_queue[9] == 0);  // its map has no row for this class
  CHECK(site.pfc_priorities == 1u << 3);
  CHECK(site.queues[3].lossless);
  CHECK(site.queues[6].strict);
  CHECK(site.queues[6].shaped_bits_per_second == 10'000'000'000u);
  CHECK(site.queues[0].weight == 20u);
  CHECK(site.queues[0].in_use);
  CHECK_FALSE(site.queues[5].in_use);
  CHECK(site.lossy_pool_bytes == 56'623'104);
  CHECK(site.lossless_headroom_bytes == 6'291'456);
  CHECK(site.ports.size() == 8);
}

TEST_CASE("applying leads DLCP's DSCPs to their queues and changes no row of the site") {
  const Json before = leaf();
  const auto plan = plan_of(before);
  const auto rendering = render_ok(plan);
  const Json after = applied(before, rendering);

  const Json& map = after["DSCP_TO_TC_MAP"]["DLCP-ROCE"];
  CHECK(map.size() == 64);
  for (const auto& [dscp, traffic_class] : before["DSCP_TO_TC_MAP"]["ROCE"].items()) {
    const auto& row = plan.dscp[std::stoi(dscp)];
    if (row.owner == Owner::kSite)
      CHECK(map[dscp] == traffic_class);
    else
      CHECK(map[dscp] == std::to_string(row.traffic_class));
  }
  CHECK(after["PORT_QOS_MAP"]["Ethernet0"]["dscp_to_tc_map"] == "DLCP-ROCE");
  CHECK(after["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "3");
  CHECK(after["PORT_QOS_MAP"]["Ethernet16"] == before["PORT_QOS_MAP"]["Ethernet16"]);

  const Json bulk =
      after["WRED_PROFILE"][after["QUEUE"]["Ethernet0|2"]["wred_profile"].get<std::string>()];
  CHECK(bulk["wred_green_enable"] == "true");
  CHECK(bulk["ecn"] == "ecn_all");
  CHECK(bulk["green_min_threshold"] == "150016");
  CHECK(bulk["green_max_threshold"] == "150272");
  CHECK(bulk["green_drop_probability"] == "100");
  const Json exact =
      after["WRED_PROFILE"][after["QUEUE"]["Ethernet0|5"]["wred_profile"].get<std::string>()];
  CHECK(exact["wred_green_enable"] == "false");
  CHECK_FALSE(after["QUEUE"]["Ethernet0|7"].contains("wred_profile"));
  const Json control = after["SCHEDULER"]["DLCP-control"];
  CHECK(control["type"] == "STRICT");
  CHECK(control["pir"] == "2500000000");

  // Only rows that are listed as changes differ, and all rows of definitions are new.
  std::set<std::string> changed;
  for (const auto& change : rendering.changes) {
    changed.insert(change.row);
    if (change.row.rfind("QUEUE", 0) != 0 && change.row.rfind("PORT_QOS_MAP", 0) != 0)
      CHECK(change.before.empty());
  }
  for (const auto& [table, rows] : before.items())
    for (const auto& [key, row] : rows.items())
      if (changed.count(table + "|" + key) == 0) CHECK(after[table][key] == row);
  CHECK(Json::parse(file_of(rendering, "test/config_db.after.json").text) == after);
}

TEST_CASE("a class that the site's map leads to a separate priority group goes to the lossy one") {
  const Json before = leaf();
  REQUIRE(before["TC_TO_PRIORITY_GROUP_MAP"]["ROCE"]["7"] == "7");
  const Json after = applied(before, render_ok(plan_of(before)));
  const auto name = after["PORT_QOS_MAP"]["Ethernet0"]["tc_to_pg_map"].get<std::string>();
  CHECK(after["TC_TO_PRIORITY_GROUP_MAP"][name]["7"] == "0");
  CHECK(after["TC_TO_PRIORITY_GROUP_MAP"][name]["3"] == "3");
  CHECK(after["TC_TO_PRIORITY_GROUP_MAP"]["ROCE"] == before["TC_TO_PRIORITY_GROUP_MAP"]["ROCE"]);
}

TEST_CASE("a rollback after apply restores the imported configuration") {
  Json before = leaf();
  SECTION("unchanged") {}
  SECTION("with a row of the site for a queue of DLCP") {
    before["QUEUE"]["Ethernet0|5"] = {{"scheduler", "best-effort"}, {"wred_profile", "ROCE"}};
  }
  SECTION("with tables that did not exist") {
    before.erase("WRED_PROFILE");
    before.erase("QUEUE");
  }
  SECTION("with a buffer row that covers only a DLCP queue and has another alpha") {
    before["BUFFER_PROFILE"]["deep"] = {
        {"pool", "egress_lossy_pool"}, {"size", "0"}, {"dynamic_th", "3"}};
    before["BUFFER_QUEUE"].erase("Ethernet0|4-7");
    for (const char* key : {"Ethernet0|4", "Ethernet0|5", "Ethernet0|6", "Ethernet0|7"})
      before["BUFFER_QUEUE"][key] = {{"profile", "deep"}};
  }
  SECTION("with a hash that lacks the UDP source port") {
    before["SWITCH_HASH"]["GLOBAL"]["ecmp_hash"] = {"DST_IP", "SRC_IP"};
  }
  const auto rendering = render_ok(plan_of(before));
  const Json after = applied(before, rendering);
  CHECK(after != before);
  CHECK(patched(after, rendering, FileKind::kRollback) == before);
}

TEST_CASE(
    "a configuration with the change applied renders to no change, and its import equals the "
    "site's") {
  const Json before = leaf();
  const auto plan = plan_of(before);
  const Json after = applied(before, render_ok(plan));
  const auto site = import_text(sonic(), after.dump());
  CHECK(site.dscp_to_class == plan.site->dscp_to_class);
  CHECK(site.class_to_queue == plan.site->class_to_queue);
  CHECK_FALSE(site.queues[5].in_use);
  const auto again = render_ok(make_plan(site, kHosts, kUplinks));
  CHECK(again.changes.empty());
  CHECK(again.files.empty());
}

TEST_CASE("a new threshold on a switch that has DLCP already changes only its profiles") {
  const Json before = leaf();
  const Json first = applied(before, render_ok(plan_of(before)));
  auto plan = make_plan(import_text(sonic(), first.dump()), kHosts, kUplinks);
  for (auto& group : plan.groups)
    group.queues[1].mark_bytes = 120'064;
  const auto update = render_ok(plan);
  REQUIRE(update.changes.size() == 1);
  CHECK(update.changes[0].row == "WRED_PROFILE|DLCP-exact");
  CHECK(update.changes[0].impact == Impact::kHitless);
  CHECK(patched(applied(first, update), update, FileKind::kRollback) == first);
}

TEST_CASE("definitions that nothing refers to any more are removed, others are kept") {
  const Json before = leaf();
  const Json first = applied(before, render_ok(plan_of(before)));
  REQUIRE(first["WRED_PROFILE"].contains("DLCP-bulk-2"));
  auto plan = make_plan(import_text(sonic(), first.dump()), kHosts, kUplinks);
  SECTION("no port uses it any more") {
    plan.groups[1].queues[3] = plan.groups[0].queues[3];
    const Json after = applied(first, render_ok(plan));
    CHECK_FALSE(after["WRED_PROFILE"].contains("DLCP-bulk-2"));
  }
  SECTION("a port outside the plan still uses it") {
    plan.groups.pop_back();
    const auto rendering = render_ok(plan);
    CHECK(applied(first, rendering)["WRED_PROFILE"].contains("DLCP-bulk-2"));
    CHECK(std::any_of(rendering.notes.begin(), rendering.notes.end(), [](const auto& note) {
      return note.text.find("DLCP-bulk-2") != std::string::npos;
    }));
  }
}

TEST_CASE("apply and rollback refuse if a row of the patch has drifted") {
  const Json before = leaf();
  const auto rendering = render_ok(plan_of(before));
  Json moved = before;
  moved["PORT_QOS_MAP"]["Ethernet8"]["pfc_enable"] = "3,4";
  CHECK_THROWS(applied(moved, rendering));
  Json after = applied(before, rendering);
  after["WRED_PROFILE"]["DLCP-bulk"]["green_min_threshold"] = "1";
  CHECK_THROWS(patched(after, rendering, FileKind::kRollback));
  Json elsewhere = before;  // a row outside the patch may change
  elsewhere["QUEUE"]["Ethernet16|5"] = {{"scheduler", "best-effort"}};
  CHECK_NOTHROW(applied(elsewhere, rendering));
}

TEST_CASE("ports are changed one group at a time, and only their own patch affects them") {
  const auto rendering = render_ok(plan_of(leaf()));
  CHECK_NOTHROW(file_of(rendering, "20-ports-01-host.json-patch"));
  CHECK_NOTHROW(file_of(rendering, "20-ports-02-fabric.json-patch"));
  for (const auto& change : rendering.changes) {
    const bool of_port =
        change.row.rfind("QUEUE", 0) == 0 || change.row.rfind("PORT_QOS_MAP", 0) == 0;
    CHECK(change.impact == (of_port ? Impact::kPortFlap : Impact::kHitless));
  }
  const auto& definitions = file_of(rendering, "10-definitions.json-patch").text;
  CHECK(definitions.find("/QUEUE/") == std::string::npos);
  CHECK(definitions.find("/PORT_QOS_MAP/") == std::string::npos);
}

TEST_CASE("a plan that would change another row of the site is refused") {
  Json config = leaf();
  SECTION("a queue row that covers several queues") {
    config["QUEUE"]["Ethernet0|4-5"] = {{"scheduler", "best-effort"}};
    CHECK_THAT(refusal_of(config), Contains("QUEUE|Ethernet0|4-5 is one row for several queues"));
  }
  SECTION("a queue row that covers several ports") {
    config["QUEUE"]["Ethernet0,Ethernet8|5"] = {{"scheduler", "best-effort"}};
    CHECK_THAT(refusal_of(config), Contains("is one row for several ports"));
  }
  SECTION("a port with a different map than the others") {
    config["DSCP_TO_TC_MAP"]["OTHER"] = {{"0", "1"}};
    config["PORT_QOS_MAP"]["Ethernet8"]["dscp_to_tc_map"] = "OTHER";
    CHECK_THAT(refusal_of(config), Contains("port Ethernet8 has a different dscp_to_tc_map"));
  }
  SECTION("a port that does not exist") {
    config["PORT"].erase("Ethernet40");
    for (const char* table : {"QUEUE", "PORT_QOS_MAP", "BUFFER_QUEUE"}) {
      const Json rows = config[table];
      for (const auto& [key, row] : rows.items())
        if (key.substr(0, key.find('|')) == "Ethernet40") config[table].erase(key);
    }
    CHECK_THAT(refusal_of(config), Contains("port Ethernet40 is not in the imported"));
  }
  SECTION("a queue whose buffers are lossless") {
    config["BUFFER_QUEUE"].erase("Ethernet0|4-7");
    config["BUFFER_QUEUE"]["Ethernet0|4-5"] = {{"profile", "egress_lossless_profile"}};
    CHECK_THAT(refusal_of(config), Contains("has a lossless buffer profile"));
  }
  SECTION("a map whose name leaves no room for the prefix") {
    const std::string name(30, 'M');
    config["DSCP_TO_TC_MAP"][name] = config["DSCP_TO_TC_MAP"]["ROCE"];
    for (auto& row : config["PORT_QOS_MAP"])
      row["dscp_to_tc_map"] = name;
    CHECK_THAT(refusal_of(config), Contains("leaves no room for the prefix"));
  }
}

TEST_CASE("a value beyond SONiC's range is refused on every render") {
  auto plan = plan_of(leaf());
  auto& bulk = plan.groups[0].queues[3];
  SECTION("a threshold that orchagent cannot read") {
    bulk.mark_bytes = bulk.levels[0].drop_bytes = 2'147'483'648;
    CHECK_THAT(problems_of(sonic().render(plan)), Contains("expected 0..2147483647"));
  }
  SECTION("a weight of zero") {
    bulk.weight = 0;
    CHECK_THAT(problems_of(sonic().render(plan)), Contains("expected 1..100"));
  }
  SECTION("a strict queue without a limit") {
    plan.groups[0].queues[0].shape_bits_per_second = 0;
    CHECK_THAT(problems_of(sonic().render(plan)), Contains("SCHEDULER|DLCP-control"));
  }
  SECTION("two depths in one queue") {
    bulk.mark_bytes = 100'096;
    CHECK_THAT(problems_of(sonic().render(plan)), Contains("marks and drops at different depths"));
  }
}

TEST_CASE(
    "rows of trimming and watchdogs are removed if the intent requests it, and the rollback "
    "restores them") {
  Json config = leaf();
  config["SWITCH_TRIMMING"]["GLOBAL"] = {
      {"size", "256"}, {"dscp_value", "40"}, {"queue_index", "7"}};
  config["PFC_WD"]["Ethernet0"] = {
      {"action", "drop"}, {"detection_time", "200"}, {"restoration_time", "200"}};
  config["PORT_QOS_MAP"]["Ethernet0"]["pfcwd_sw_enable"] = "3";
  auto plan = plan_of(config);
  const auto kept = render_ok(plan);
  CHECK(applied(config, kept).at("SWITCH_TRIMMING") == config.at("SWITCH_TRIMMING"));
  CHECK(applied(config, kept).at("PFC_WD") == config.at("PFC_WD"));
  CHECK(std::any_of(kept.notes.begin(), kept.notes.end(), [](const ReportNote& note) {
    return note.text.find("`remove: [trimming]` removes it") != std::string::npos;
  }));
  plan.features.remove_trimming = plan.features.remove_pfc_watchdog = true;
  const auto gone = render_ok(plan);
  const Json after = applied(config, gone);
  CHECK_FALSE(after.value("SWITCH_TRIMMING", Json::object()).contains("GLOBAL"));
  CHECK_FALSE(after.value("PFC_WD", Json::object()).contains("Ethernet0"));
  CHECK_FALSE(after.at("PORT_QOS_MAP").at("Ethernet0").contains("pfcwd_sw_enable"));
  CHECK(patched(after, gone, FileKind::kRollback).at("PFC_WD") == config.at("PFC_WD"));
  // A profile of the site that trims needs the row.
  config["BUFFER_PROFILE"]["theirs"] = {
      {"pool", "p"}, {"size", "0"}, {"packet_discard_action", "trim"}};
  plan = plan_of(config);
  plan.features.remove_trimming = true;
  CHECK_THAT(problems_of(sonic().render(plan)), Contains("a buffer profile of the site trims"));
}

TEST_CASE("every port gets a queue map, because a port without one sends all packets to queue 0") {
  SECTION("a declared site: its classes and DLCP's") {
    SiteConfig site;
    site.dscp_to_class.fill(0);
    site.dscp_to_class[26] = 6;
    for (int c = 0; c < kQueueCount; ++c)
      site.class_to_queue[c] = static_cast<std::uint8_t>(c);
    site.class_to_queue[6] = site.class_to_queue[12] = 1;
    auto plan = make_plan(site, kHosts, kUplinks);
    plan.groups[0].queues[1].traffic_class = 3;  // its number is not its queue's
    const Json after = applied(Json::object(), render_ok(plan));
    for (const char* port : {"Ethernet0", "Ethernet32"})
      CHECK(after["PORT_QOS_MAP"][port]["tc_to_queue_map"] == "DLCP-map");
    const Json& map = after["TC_TO_QUEUE_MAP"]["DLCP-map"];
    CHECK(map["3"] == "5");
    CHECK(map["2"] == "2");
    CHECK(map["6"] == "1");
    CHECK(map.value("12", "") == "1");
    CHECK_FALSE(map.contains("9"));
    CHECK(map["0"] == "0");
  }
  SECTION("one imported port lacks the map of the others") {
    Json before = leaf();
    before["PORT_QOS_MAP"]["Ethernet0"].erase("tc_to_queue_map");
    const auto rendering = render_ok(plan_of(before));
    const Json after = applied(before, rendering);
    CHECK(after["PORT_QOS_MAP"]["Ethernet0"]["tc_to_queue_map"] ==
          after["PORT_QOS_MAP"]["Ethernet8"]["tc_to_queue_map"]);
    CHECK(patched(after, rendering, FileKind::kRollback) == before);
  }
  SECTION("a switch without QoS: all its own traffic stays in queue 0") {
    Json before = leaf();
    for (auto& [port, row] : before["PORT_QOS_MAP"].items())
      row = Json::object();
    const Json after = applied(before, render_ok(plan_of(before)));
    const Json& map = after["TC_TO_QUEUE_MAP"]["DLCP-map"];
    CHECK(map["5"] == "5");
    CHECK(map["3"] == "0");
    CHECK(map.size() == 8);
    CHECK(applied(after, render_ok(plan_of(after))) == after);
  }
  SECTION("several classes without a map are refused") {
    Json before = leaf();
    for (auto& [port, row] : before["PORT_QOS_MAP"].items())
      row.erase("tc_to_queue_map");
    CHECK_THAT(to_text(sonic().import({"x.json", before.dump(1)}).problems.front()),
               Contains("have no tc_to_queue_map, so all packets are in queue 0"));
  }
}

TEST_CASE("a row that names an object that the file lacks is refused") {
  const auto refused = [](const char* table, const char* what) {
    Json config = leaf();
    config[table] = Json::object();
    CHECK_THAT(to_text(sonic().import({"x.json", config.dump(1)}).problems.front()),
               Contains(what) && Contains("export the whole file"));
  };
  refused("WRED_PROFILE", "names a wred_profile that does not exist");
  refused("BUFFER_PROFILE", "names a profile that does not exist");
  refused("MAP_PFC_PRIORITY_TO_QUEUE", "names a pfc_to_queue_map that does not exist");
}

TEST_CASE("a file that is not a config_db is refused with its line") {
  const auto text_of = [](const std::string& text) {
    const auto result = sonic().import({"config_db.json", text});
    REQUIRE_FALSE(result.value);
    return to_text(result.problems.at(0));
  };
  CHECK_THAT(text_of("{\n \"PORT\": {\n  broken\n"),
             Contains("config_db.json:3: error: this is not"));
  CHECK_THAT(text_of("[]"), Contains("not an object of tables"));
  CHECK_THAT(text_of("{\"QUEUE\": {}}"), Contains("no PORT table"));
  CHECK_THAT(text_of("{\"asic0\": {}}"), Contains("multi-ASIC"));
  Json config = leaf();
  config["DSCP_TO_TC_MAP"]["ROCE"]["26"] = "16";
  CHECK_THAT(text_of(config.dump(1)), Contains("26: \"16\""));
  config = leaf();
  config["PORT_QOS_MAP"]["Ethernet0"]["dscp_to_tc_map"] = "GONE";
  config["PORT_QOS_MAP"].erase("Ethernet8");
  for (auto& row : config["PORT_QOS_MAP"])
    row["dscp_to_tc_map"] = "GONE";
  CHECK_THAT(text_of(config.dump(1)), Contains("names a dscp_to_tc_map that does not exist"));
}

TEST_CASE("captured counters are compared with the plan, queue by queue") {
  const auto plan = plan_of(leaf());
  const auto verdicts = [&](const std::string& rows) {
    const std::string header =
        "     Port    TxQ    WredDrp/pkts    WredDrp/bytes    EcnMarked/pkts    EcnMarked/bytes\n"
        "---------  -----  --------------  ---------------  ----------------  -----------------\n";
    const auto result = sonic().verify(plan, {"capture", header + rows});
    REQUIRE(result.value);
    std::string text;
    for (const auto& finding : *result.value)
      text += std::to_string(finding.queue) + (finding.verdict == Verdict::kAsPlanned ? "+"
                                               : finding.verdict == Verdict::kWrong   ? "!"
                                                                                      : "?");
    return text;
  };
  CHECK(verdicts("Ethernet0  UC7  0  0  0  0\nEthernet0  UC5  0  0  9  1\n"
                 "Ethernet0  UC4  5  1  4  1\nEthernet0  UC2  1,000  1  900  1\n"
                 "Ethernet0  UC3  0  0  0  0\n") == "7+5+4+2+3+");
  CHECK(verdicts("Ethernet0  UC7  3  0  0  0\nEthernet0  UC5  4  0  9  1\n"
                 "Ethernet0  UC4  0  0  4  1\nEthernet0  UC2  7  1  0  1\n"
                 "Ethernet0  UC3  1  0  0  0\n") == "7!5!4!2!3!");
  CHECK(verdicts("Ethernet0  UC7  N/A  N/A  N/A  N/A\nEthernet0  UC5  0  0  0  0\n"
                 "Ethernet0 MC12  5  5  5  5\n") == "7?5?4?2?");
  CHECK(verdicts("Ethernet16  UC7  1  0  0  0\n") == "-1?");
  CHECK_FALSE(sonic().verify(plan, {"capture", "nothing here"}).value);
}
