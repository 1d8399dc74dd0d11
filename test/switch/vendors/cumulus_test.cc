// Cumulus Linux: a change adds DLCP's profiles and binds ports to them; its rollback restores the
// imported configuration. The effect of the files in NVUE is simulated on flat leaves.
#include <iterator>
#include <set>
#include <sstream>

#include "catch.h"
#include "switch/vendor_plan.h"
#include "switch/vendors/tree/change/operation_files.h"
#include "switch/vendors/tree/change/own_objects.h"

using namespace dlcp;
using namespace dlcp::fabric;
using namespace dlcp::test;
using tree::yaml_of;
using Leaves = std::map<std::string, std::string>;

namespace {

const Vendor& nvue() {
  return *find_vendor("cumulus");
}
const std::vector<std::string> kHosts = {"swp1", "swp2"};
const std::vector<std::string> kUplinks = {"swp5", "swp6"};

std::string leaf_text() {
  return read_text(DLCP_SWITCH_DATA "/cumulus/leaf.yaml");
}
Leaves leaves_of(const std::string& yaml) {
  Leaves leaves;
  for (const tree::Target& target : tree::targets()) {
    if (target.os != "cumulus") continue;
    const auto read = tree::read_statements(target.reader, "text", yaml);
    REQUIRE(read.value);
    for (const auto& one : *read.value)
      leaves[tree::slashed(tree::leaf_path(one.text))] = tree::leaf_value(one.text);
  }
  return leaves;
}
SwitchPlan plan_of(const Leaves& leaves) {
  return make_plan(import_text(nvue(), yaml_of(leaves)), kHosts, kUplinks);
}
Rendering render_ok(const SwitchPlan& plan) {
  auto rendering = nvue().render(plan);
  INFO(problems_of(rendering));
  REQUIRE(rendering.problems.empty());
  return rendering;
}

// Applies a folder's files in order: unsets, then sets.
Leaves played(Leaves leaves, const Rendering& rendering, FileKind kind) {
  for (const auto& file : rendering.files) {
    if (file.kind != kind || file.path.find(".unset") == std::string::npos) continue;
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);) {
      std::replace(line.begin(), line.end(), ' ', '/');
      for (auto at = leaves.begin(); at != leaves.end();) {
        const bool inside = at->first == line || at->first.rfind(line + "/", 0) == 0;
        at = inside ? leaves.erase(at) : std::next(at);
      }
    }
  }
  for (const auto& file : rendering.files)
    if (file.kind == kind && file.path.find(".yaml") != std::string::npos)
      for (const auto& [path, value] : leaves_of(file.text))
        leaves[path] = value;
  return leaves;
}

}  // namespace

TEST_CASE("the import of an NVUE configuration contains the site's settings, defaults included") {
  const auto site = import_text(nvue(), leaf_text());
  CHECK(site.dscp_to_class[26] == 3);
  CHECK(site.dscp_to_class[40] == 0);
  CHECK(site.dscp_to_class[48] == 6);
  CHECK(site.class_to_queue[5] == 5);
  CHECK(site.pfc_priorities == 1u << 3);
  CHECK(site.queues[3].lossless);
  CHECK(site.queues[6].strict);
  CHECK_FALSE(site.queues[6].weight);
  CHECK(site.queues[0].weight == 20u);
  CHECK(site.queues[1].weight == 13u);
  CHECK_FALSE(site.queues[5].in_use);
  CHECK(site.ports == std::vector<std::string>{"swp1", "swp2", "swp3", "swp4", "swp5", "swp6"});
}

TEST_CASE("members of bonds and speeds are imported from keys with one name or several") {
  const auto site =
      import_text(nvue(),
                  "- set:\n    interface:\n      swp1-3: {type: swp, link: {speed: 400G}}\n"
                  "      bond1: {bond: {member: {swp1-2: {}}}}\n"
                  "      bond2: {bond: {member: {swp3: {}}}}\n");
  const auto lag_of = [&site](const char* port) { return find_port(site, port)->lag; };
  CHECK(lag_of("swp1") == "bond1");
  CHECK(lag_of("swp2") == "bond1");
  CHECK(lag_of("swp3") == "bond2");
  CHECK(find_port(site, "swp1")->bits_per_second == 400'000'000'000u);
}

TEST_CASE("adaptive routing that is already on causes no change") {
  auto before = leaves_of(leaf_text());
  auto plan = plan_of(before);
  plan.os = "cumulus";
  plan.version = "5.14";
  plan.features.load_balancing = LoadBalancing::kPacket;
  const auto rendering = render_ok(plan);
  const auto after = played(before, rendering, FileKind::kConfig);
  CHECK(after.at("router/adaptive-routing/enable") == "on");
  CHECK(after.at("interface/swp5/router/adaptive-routing/enable") == "on");
  CHECK(after.count("interface/swp1/router/adaptive-routing/enable") == 0);
  CHECK(played(after, rendering, FileKind::kRollback) == before);
  auto again = plan_of(after);
  again.features.load_balancing = LoadBalancing::kPacket;
  CHECK(render_ok(again).changes.empty());
  plan.version = "5.12";  // a release in which switchd restarts
  const auto older = render_ok(plan).changes;
  CHECK(std::any_of(older.begin(), older.end(), [](const auto& change) {
    return change.row == "router/adaptive-routing/enable" && change.impact == Impact::kReload;
  }));
}

TEST_CASE("ports that do not trust DSCPs keep the site's classes when DLCP's are added") {
  auto leaves = leaves_of(leaf_text());
  for (int dscp = 0; dscp < 64; ++dscp)
    leaves.erase("qos/mapping/default-global/dscp/" + std::to_string(dscp) + "/switch-priority");
  leaves["qos/mapping/default-global/trust"] = "port";
  leaves["qos/mapping/default-global/port-default-sp"] = "1";
  const auto plan = plan_of(leaves);
  CHECK(plan.site->dscp_to_class[26] == 1);
  const auto after = played(leaves, render_ok(plan), FileKind::kConfig);
  CHECK(after.at("qos/mapping/DLCP-default-global/trust") == "l3");
  CHECK(after.at("qos/mapping/DLCP-default-global/dscp/26/switch-priority") == "1");
  CHECK(after.at("qos/mapping/DLCP-default-global/dscp/40/switch-priority") == "7");
}

TEST_CASE("applying adds DLCP's profiles and changes no setting of the site") {
  const auto before = leaves_of(leaf_text());
  const auto plan = plan_of(before);
  const auto rendering = render_ok(plan);
  const auto after = played(before, rendering, FileKind::kConfig);
  for (int dscp = 0; dscp < 64; ++dscp) {
    const auto path = "/dscp/" + std::to_string(dscp) + "/switch-priority";
    const auto site = before.at("qos/mapping/default-global" + path);
    CHECK(after.at("qos/mapping/default-global" + path) == site);
    const bool ours = plan.dscp[dscp].owner == Owner::kDlcp;
    CHECK(after.at("qos/mapping/DLCP-default-global" + path) ==
          (ours ? std::to_string(plan.dscp[dscp].traffic_class) : site));
  }
  // The profiles of host ports and uplinks are copies of different profiles.
  CHECK(after.at("interface/swp1/qos/congestion-control/profile") == "DLCP-storage");
  CHECK(after.at("interface/swp5/qos/congestion-control/profile") == "DLCP-default-global");
  CHECK(after.at("interface/swp1/qos/pfc/profile") == "storage");
  CHECK(after.count("interface/swp3/qos/mapping/profile") == 0);
  CHECK(after.at("qos/congestion-control/DLCP-storage/traffic-class/3/min-threshold") == "150000");
  const std::string bulk = "qos/congestion-control/DLCP-storage/traffic-class/2/";
  CHECK(after.at(bulk + "red") == "enable");
  CHECK(after.at(bulk + "ecn") == "enable");
  CHECK(after.at(bulk + "min-threshold") == "150016");
  CHECK(after.at(bulk + "max-threshold") == "150272");
  CHECK(after.at("qos/congestion-control/DLCP-storage/traffic-class/5/red") == "disable");
  CHECK(after.count("qos/congestion-control/DLCP-storage/traffic-class/7/ecn") == 0);
  const std::string scheduler = "qos/egress-scheduler/DLCP-default-global/traffic-class/";
  CHECK(after.at(scheduler + "7/mode") == "strict");
  CHECK(after.at(scheduler + "3/bw-percent") == "20");
  CHECK(after.at(scheduler + "6/mode") == "strict");
  CHECK(after.count(scheduler + "1/bw-percent") == 0);  // 20+20+60: none left for unused queues
  CHECK(after.at("qos/egress-shaper/DLCP-default-global/traffic-class/7/max-rate") == "20000000");
  CHECK(after.at("system/forwarding/ecmp-hash/source-port") == "on");
  std::set<std::string> changed;
  for (const auto& change : rendering.changes)
    changed.insert(change.row);
  for (const auto& [path, value] : before)
    if (changed.count(path) == 0) CHECK(after.at(path) == value);
}

TEST_CASE("a rollback after apply restores the imported NVUE configuration") {
  auto before = leaves_of(leaf_text());
  SECTION("unchanged") {}
  SECTION("with ports that have profiles of their own") {
    before["interface/swp1/qos/egress-scheduler/profile"] = "mine";
    before["qos/egress-scheduler/mine/traffic-class/0/bw-percent"] = "30";
    before["qos/egress-scheduler/mine/traffic-class/0/mode"] = "dwrr";
  }
  SECTION("with a priority of DLCP that leads to another queue") {
    before["qos/egress-queue-mapping/default-global/switch-priority/5/traffic-class"] = "1";
  }
  const auto rendering = render_ok(plan_of(before));
  const auto after = played(before, rendering, FileKind::kConfig);
  CHECK(after != before);
  CHECK(played(after, rendering, FileKind::kRollback) == before);
}

TEST_CASE("a Cumulus configuration with the change applied renders to no change") {
  const auto before = leaves_of(leaf_text());
  const auto plan = plan_of(before);
  const auto after = played(before, render_ok(plan), FileKind::kConfig);
  const auto site = import_text(nvue(), yaml_of(after));
  CHECK(site.dscp_to_class == plan.site->dscp_to_class);
  CHECK_FALSE(site.queues[5].in_use);
  const auto again = render_ok(make_plan(site, kHosts, kUplinks));
  CHECK(again.changes.empty());
  CHECK(again.files.empty());
}

TEST_CASE("a new threshold on a Cumulus switch changes only profiles, and can be rolled back") {
  const auto before = leaves_of(leaf_text());
  const auto first = played(before, render_ok(plan_of(before)), FileKind::kConfig);
  auto plan = plan_of(first);
  for (auto& group : plan.groups)
    group.queues[1].mark_bytes = 120'064;
  const auto update = render_ok(plan);
  for (const auto& change : update.changes)
    CHECK(change.row.find("/traffic-class/5/") != std::string::npos);
  const auto second = played(first, update, FileKind::kConfig);
  CHECK(second != first);
  CHECK(played(second, update, FileKind::kRollback) == first);
}

TEST_CASE("profiles that no port uses any more are removed") {
  const auto before = leaves_of(leaf_text());
  const auto first = played(before, render_ok(plan_of(before)), FileKind::kConfig);
  auto plan = make_plan(import_text(nvue(), yaml_of(first)), {}, kUplinks);
  plan.groups.erase(plan.groups.begin());
  const auto rendering = render_ok(plan);
  CHECK(played(first, rendering, FileKind::kConfig)
            .count("qos/congestion-control/DLCP-storage/traffic-class/2/ecn") == 1);
  CHECK(std::any_of(rendering.notes.begin(), rendering.notes.end(), [](const auto& note) {
    return note.text.find("DLCP-storage is kept") != std::string::npos;
  }));
  auto moved = first;
  for (const char* port : {"swp1", "swp2"})
    moved["interface/" + std::string(port) + "/qos/congestion-control/profile"] = "storage";
  auto again = make_plan(import_text(nvue(), yaml_of(moved)), {}, kUplinks);
  again.groups.erase(again.groups.begin());
  CHECK(played(moved, render_ok(again), FileKind::kConfig)
            .count("qos/congestion-control/DLCP-storage/traffic-class/2/ecn") == 0);
}

TEST_CASE("a note lists the settings of unused queues that a copy lacks") {
  const auto before = leaves_of(leaf_text());
  const auto plan = plan_of(before);
  const auto rendering = render_ok(plan);
  const auto after = played(before, rendering, FileKind::kConfig);
  const auto said =
      std::find_if(rendering.notes.begin(), rendering.notes.end(), [](const auto& note) {
        return note.text.find("no DSCP of the site leads to traffic class") == 0;
      });
  REQUIRE(said != rendering.notes.end());
  const auto listed = said->text.substr(0, said->text.find(':'));
  for (int queue = 0; queue < kQueueCount; ++queue) {
    const auto number = std::to_string(queue);
    const auto share = after.find("qos/egress-scheduler/DLCP-default-global/traffic-class/" +
                                  number + "/bw-percent");
    INFO(said->text << ", queue " << number);
    const bool is_least = share != after.end() && share->second == "1";
    if (listed.find(number) != std::string::npos)
      CHECK((is_least || share == after.end()));
    else
      CHECK_FALSE(is_least);
  }
}

TEST_CASE("a Cumulus port without DLCP senders classifies DLCP's DSCPs as configured") {
  const auto before = leaves_of(leaf_text());
  auto plan = plan_of(before);
  plan.groups[0].group.trust = Trust::kRemarked;
  plan.groups[0].group.remark_dscp = 26;
  const auto rendering = render_ok(plan);
  const auto after = played(before, rendering, FileKind::kConfig);
  const auto name = after.at("interface/swp1/qos/mapping/profile");
  CHECK(name == "DLCPr26-default-global");
  CHECK(after.at("qos/mapping/" + name + "/dscp/40/switch-priority") == "3");
  CHECK(after.at("interface/swp5/qos/mapping/profile") == "DLCP-default-global");
  for (const std::string acl : {"DLCP-as-26-ipv4", "DLCP-as-26-ipv6"}) {
    CHECK(after.at("acl/" + acl + "/type") == acl.substr(11));
    CHECK(after.at("acl/" + acl + "/rule/70/match/ip/dscp") == "40");  // the last of seven
    CHECK(after.at("acl/" + acl + "/rule/70/action/set/dscp") == "26");
    CHECK(after.at("interface/swp1/acl/" + acl + "/inbound") == "{}");
    CHECK(after.count("interface/swp5/acl/" + acl + "/inbound") == 0);
  }
  CHECK(played(after, rendering, FileKind::kRollback) == before);
  auto again = plan_of(after);
  again.groups[0].group.trust = Trust::kRemarked;
  again.groups[0].group.remark_dscp = 26;
  CHECK(render_ok(again).changes.empty());
  const auto trusted = played(after, render_ok(plan_of(after)), FileKind::kConfig);
  CHECK(std::none_of(trusted.begin(), trusted.end(), [](const auto& leaf) {
    return leaf.first.find("acl/DLCP") != std::string::npos;
  }));
}

TEST_CASE("alpha values, which no grammar has checked, are in a separate file with a notice") {
  const auto rendering = render_ok(plan_of(leaves_of(leaf_text())));
  const auto& file = file_of(rendering, "30-alpha.unverified");
  CHECK_FALSE(file.grammar_checked);
  CHECK(file.text.rfind("# UNVERIFIED", 0) == 0);
  for (const auto& other : rendering.files)
    if (other.grammar_checked) CHECK(other.text.find("shared-alpha alpha_") == std::string::npos);
}

// The leaves after the `nv set` lines of a text; numbers with commas stand for one line each.
void set_lines(Leaves& leaves, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("nv set ")) continue;
    std::vector<std::string> paths{""};
    std::istringstream words(line.substr(7));
    std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    const std::string value = all[1] == "pfc" ? "{}" : all.back();
    if (all[1] != "pfc") all.pop_back();
    for (const auto& word : all) {
      std::vector<std::string> longer;
      std::istringstream parts(word);
      for (std::string part; std::getline(parts, part, ',');)
        for (const auto& path : paths)
          longer.push_back(path.empty() ? part : path + "/" + part);
      paths = std::move(longer);
    }
    for (const auto& path : paths)
      leaves[path] = value;
  }
}

TEST_CASE("the RoCE macro is refused with a hint that has explicit settings instead") {
  Leaves leaves{{"interface/swp1/type", "swp"}, {"qos/roce/enable", "on"}};
  const auto refused = nvue().import({"x.yaml", yaml_of(leaves)});
  REQUIRE(has_errors(refused.problems));
  leaves.erase("qos/roce/enable");
  for (const auto& problem : refused.problems)
    if (problem.severity == Severity::kError) set_lines(leaves, problem.hint);
  const auto site = import_text(nvue(), yaml_of(leaves));
  CHECK(site.class_to_queue[*site.dscp_to_class[26]] == 3);
  CHECK(site.class_to_queue[*site.dscp_to_class[48]] == 6);
  CHECK(site.class_to_queue[*site.dscp_to_class[0]] == 0);
  CHECK(site.queues[3].lossless);
  CHECK(site.queues[3].weight == 50u);
  CHECK(site.queues[6].strict);
  CHECK_FALSE(site.queues[5].in_use);
}

TEST_CASE("plans that Cumulus cannot express, or that would affect the site, are refused") {
  auto leaves = leaves_of(leaf_text());
  const auto refusal = [&] { return problems_of(nvue().render(plan_of(leaves))); };
  SECTION("a port with a different mapping profile") {
    leaves["interface/swp2/qos/mapping/profile"] = "other";
    leaves["qos/mapping/other/trust"] = "l3";
    CHECK_THAT(refusal(), Contains("port swp2 has a different mapping profile"));
  }
  SECTION("more than 100 percent") {
    leaves["qos/egress-scheduler/default-global/traffic-class/0/bw-percent"] = "80";
    CHECK_THAT(refusal(), Contains("exceed 100"));
  }
  SECTION("the RoCE macro") {
    leaves["qos/roce/enable"] = "on";
    const auto result = nvue().import({"x.yaml", yaml_of(leaves)});
    REQUIRE_FALSE(result.value);
    CHECK_THAT(to_text(result.problems.at(0)), Contains("qos roce"));
    leaves["qos/roce/mode"] = "lossy-multi-tc";
    const auto other = nvue().import({"x.yaml", yaml_of(leaves)});
    CHECK_THAT(other.problems.at(0).hint, Contains("prints what mode lossy-multi-tc sets"));
  }
  SECTION("a rate beyond the shaper's range") {
    auto plan = plan_of(leaves);
    plan.groups[0].queues[0].shape_bits_per_second = 3'000'000'000'000'000;
    CHECK_THAT(problems_of(nvue().render(plan)), Contains("expected 1..2147483647"));
  }
  SECTION("a share above 100 percent") {
    auto plan = plan_of(leaves);
    plan.groups[0].queues[3].weight = 101;
    CHECK_THAT(problems_of(nvue().render(plan)), Contains("expected 0..100"));
  }
  SECTION("a file that is not an NVUE configuration") {
    for (const char* text : {"qos: {}\n", "- header: {}\n", "- unset: {}\n", "- set: [\n", ""})
      CHECK_FALSE(nvue().import({"x.yaml", text}).value);
    const auto result = nvue().import({"x.yaml",
                                       "- set:\n    interface: {swp1: {type: swp}}\n"
                                       "    qos: {mapping: {default-global: "
                                       "{trust: l3, dscp: {'40': {switch-priority: 8}}}}}"});
    REQUIRE_FALSE(result.value);
    CHECK_THAT(to_text(result.problems.at(0)),
               Contains("dscp 40 switch-priority 8") && Contains("expected 0..7"));
  }
}

TEST_CASE("commands depend on the release: the counters' command changed in 5.5") {
  auto plan = plan_of(leaves_of(leaf_text()));
  plan.os = "cumulus";
  const auto listed = [&](const std::string& version) {
    plan.version = version;
    std::string text;
    for (const auto& [command, shows] : nvue().verify_commands(plan))
      text += command + "\n";
    return text;
  };
  CHECK_THAT(listed("5.4"), Contains("nv show interface swp1 qos counters\n"));
  CHECK(listed("5.4").find("counters qos") == std::string::npos);
  CHECK_THAT(listed("5.5"), Contains("nv show interface swp1 counters qos\n"));
  CHECK(listed("5.15").find("qos counters") == std::string::npos);
}
