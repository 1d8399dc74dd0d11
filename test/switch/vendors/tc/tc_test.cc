// tc: a plan as a bash script of qdiscs and filters, the import of a port, and the comparison of
// captured counters with the plan. test_tc_guest.py runs the script in a kernel.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "dlcp/traffic_class.h"
#include "switch/vendor_plan.h"

using namespace dlcp;
using namespace dlcp::fabric;
using namespace dlcp::test;
using Json = nlohmann::json;

namespace {

const Vendor& tc() {
  return *find_vendor("tc");
}

Level level(TrafficClass one, std::optional<std::uint64_t> drop_bytes) {
  const TrafficClassRow& row = row_of(one);
  return {{one}, {row.dscp}, 0.5, 0, row.ecn != Ecn::kNotEct, 0, drop_bytes};
}

SiteConfig site_of(const std::string& running = "") {
  SiteConfig site;
  if (!running.empty()) site = import_text(tc(), running);
  site.class_to_queue[0] = 0;
  site.queues[0].in_use = true;
  site.queues[0].weight = 40;
  return site;
}

SwitchPlan plan_of(SiteConfig site = site_of()) {
  SwitchPlan plan = make_plan(std::move(site), {"eth0", "eth1"}, {"eth2"});
  plan.os = "tc";
  for (PortGroupPlan& group : plan.groups) {
    group.queues[2].levels = {level(TrafficClass::kUrgentDroppable, 150'016),
                              level(TrafficClass::kUrgentProtected, std::nullopt)};
    group.queues[3].levels = {level(TrafficClass::kBulkDroppable, 100'000),
                              level(TrafficClass::kBulkMiddle, 200'000),
                              level(TrafficClass::kBulkProtected, 300'000)};
  }
  return plan;
}

std::string script_of(const SwitchPlan& plan) {
  const Rendering rendering = tc().render(plan);
  INFO(problems_of(rendering));
  REQUIRE(rendering.problems.empty());
  return file_of(rendering, "dlcp-qos.sh").text;
}

std::string refusal_of(const SwitchPlan& plan) {
  const Rendering rendering = tc().render(plan);
  REQUIRE(rendering.files.empty());
  return problems_of(rendering);
}

std::ptrdiff_t count(const std::string& text, const std::string& part) {
  std::ptrdiff_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// A capture of port eth2 with the tree of plan_of() and all counters at zero.
Json capture() {
  const auto vq = [](int number, int limit, int min) {
    return Json{{"vq", number},    {"limit", limit},   {"min", min},
                {"packets", 1000}, {"forced_drop", 0}, {"prob_drop", 0},
                {"pdrop", 0},      {"forced_mark", 0}, {"prob_mark", 0}};
  };
  Json all = Json::array();
  const auto add = [&all](const char* kind, const char* handle, Json options) {
    all.push_back({{"kind", kind},
                   {"handle", handle},
                   {"dev", "eth2"},
                   {"options", options},
                   {"packets", 1000},
                   {"drops", 0},
                   {"marked", 0}});
  };
  add("ets", "d1c0:", {{"bands", 5}});
  add("tbf", "d1c1:", {{"rate", 2'500'000'000}});
  add("red", "d1c2:", {{"min", 103'680}, {"limit", 4'000'000}});
  add("gred", "d1c3:",
      {{"limit", 4'000'000}, {"vqs", {vq(0, 150'016, 4'000'000), vq(1, 4'000'000, 150'016)}}});
  add("gred", "d1c4:",
      {{"limit", 4'000'000},
       {"vqs", {vq(0, 100'000, 4'000'000), vq(1, 200'000, 4'000'000), vq(2, 300'000, 200'192)}}});
  return all;
}

SwitchPlan captured_plan() {
  SwitchPlan plan = plan_of();
  plan.groups.erase(plan.groups.begin());  // only eth2
  return plan;
}

std::vector<Finding> judge(const Json& captured) {
  auto judged = tc().verify(captured_plan(), {"captured", captured.dump()});
  REQUIRE(judged.value);
  return *judged.value;
}

// The one finding that is not as planned.
std::string wrong(const Json& captured) {
  std::string text;
  for (const Finding& finding : judge(captured)) {
    if (finding.verdict == Verdict::kAsPlanned) continue;
    text += std::to_string(finding.queue) + " " + text_of(finding) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the strict queue is served first and rate-limited, the others by their weights") {
  const std::string script = script_of(plan_of());
  CHECK_THAT(script,
             Contains("handle d1c0: ets bands 5 strict 1 quanta 6000 7500 4500 12000 priomap "
                      "4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4\n"));
  CHECK_THAT(script,
             Contains("parent d1c0:1 handle d1c1: tbf rate 20000000000bit burst 2500000 limit "
                      "4000000\n"));
}

TEST_CASE("an exact queue marks at its knee and drops nothing early") {
  CHECK_THAT(
      script_of(plan_of()),
      Contains("parent d1c0:2 handle d1c2: red limit 4000000 min 103680 max 103681 avpkt 3240 "
               "burst 32 probability 1 bandwidth 30000000000bit ecn nodrop\n"));
}

TEST_CASE("each level is dropped above its own depth, and only ECN-capable ones are marked") {
  const std::string script = script_of(plan_of());
  CHECK_THAT(script, Contains("handle d1c4: gred setup vqs 3 default 2 grio limit 4000000\n"));
  CHECK_THAT(script, Contains("gred vq 0 prio 1 limit 100000 min 4000000 max 4000001"));
  CHECK_THAT(script, Contains("gred vq 1 prio 1 limit 200000 min 4000000 max 4000001"));
  CHECK_THAT(script,
             Contains("gred vq 2 prio 1 limit 300000 min 150016 max 150017 avpkt 4688 burst 32 "
                      "probability 1 bandwidth 30000000000bit ecn\n"));
  CHECK_THAT(script, Contains("gred vq 2 prio 1 limit 300000 min 200192 max 200193"));  // eth2
}

TEST_CASE(
    "every DSCP of DLCP is matched in both IP versions, and DSCPs of the site if they lead to "
    "another queue") {
  SiteConfig site = site_of();
  site.dscp_to_class[46] = 6;
  site.dscp_to_class[0] = 0;
  site.queues[6].strict = true;
  site.queues[6].name = "voice";
  SwitchPlan plan = plan_of(std::move(site));
  plan.dscp[46].queue = 6;
  const std::string script = script_of(plan);
  for (const TrafficClassRow& row : kTrafficClasses) {
    for (const char* protocol : {"ip ", "ipv6 "}) {
      char match[64];
      std::snprintf(match, sizeof match, "flower ip_tos 0x%02x/0xfc classid", row.dscp << 2);
      INFO(row.name << ' ' << protocol);
      CHECK(count(script, match) == 4);  // two groups
    }
  }
  CHECK(count(script, "flower ip_tos 0xb8/0xfc classid d1c0:0 action skbedit priority d1c0:2") ==
        4);
  CHECK(count(script, "flower ip_tos 0x00/0xfc") ==
        0);  // these packets use the default queue without a filter
  CHECK_THAT(script, Contains("is queue 6 voice, strict\n"));
  CHECK_THAT(script, Contains("ets bands 6 strict 2 "));
}

TEST_CASE("an untrusted port rewrites DLCP's DSCPs and keeps the ECN bits") {
  SwitchPlan plan = plan_of();
  plan.groups[0].group.trust = Trust::kRemarked;
  plan.groups[0].group.remark_dscp = 8;
  const std::string script = script_of(plan);
  CHECK(count(script, "munge ip tos set 0x20 retain 0xfc") == kTrafficClassCount);
  CHECK(count(script, "munge ip6 traffic_class set 0x20 retain 0xfc") == kTrafficClassCount);
  CHECK_THAT(script,
             Contains("ingress protocol ip pref 53504 flower ip_tos 0xa0/0xfc action pedit"));
}

TEST_CASE("equal plans give equal scripts, and bash can parse them") {
  const std::string script = script_of(plan_of());
  CHECK(script == script_of(plan_of()));
  const std::string command = "bash -n <<'SCRIPT_ENDS'\n" + script + "\nSCRIPT_ENDS\n";
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE(
    "the script expects an imported port to be unchanged, except for numbers that the kernel "
    "assigns") {
  const std::string running =
      "qdisc noqueue 0: dev eth0 root refcnt 2 \n"
      "qdisc mq 0: dev eth1 root \n"
      "qdisc fq_codel 0: dev eth1 parent :1 limit 10240p \n"
      "qdisc tbf 8001: dev eth2 root refcnt 3 rate 20Mbit burst 3000b lat 119ms \n";
  const std::string script = script_of(plan_of(site_of(running)));
  CHECK_THAT(script, Contains("eth1) cat <<'END' ;;\nqdisc mq 0: root\n"
                              "qdisc fq_codel 0: parent :1 limit 10240p\nEND\n"));
  CHECK_THAT(script, Contains("qdisc tbf auto: root rate 20Mbit burst 3000b lat 119ms\nEND\n"));
}

TEST_CASE("queues or filters of the site are refused, not replaced") {
  const std::string rest = "qdisc noqueue 0: dev eth0 root\nqdisc noqueue 0: dev eth1 root\n";
  const auto refused = [&rest](const std::string& eth2) {
    return refusal_of(plan_of(site_of(rest + eth2)));
  };
  CHECK_THAT(refused("qdisc htb 1: dev eth2 root r2q 10\n"),
             Contains("queues or filters of the site"));
  CHECK_THAT(
      refused("qdisc noqueue 0: dev eth2 root\nqdisc clsact ffff: dev eth2 parent ffff:fff1\n"),
      Contains("port eth2 has queues or filters"));
  CHECK_THAT(refused("qdisc tbf 1: dev eth2 root rate 1Mbit\nqdisc sfq 2: dev eth2 parent 1:1\n"),
             Contains("port eth2 has queues or filters"));
  CHECK_THAT(refused(""), Contains("port is not in the imported configuration"));
}

TEST_CASE("DLCP's own queues in an import do not count as the site's") {
  const std::string running =
      "qdisc noqueue 0: dev eth0 root\nqdisc noqueue 0: dev eth1 root\n"
      "qdisc tbf 5: dev eth2 root rate 20Mbit\n"
      "qdisc ets d1c0: dev eth2 parent 5:1 bands 5\n"
      "qdisc gred d1c3: dev eth2 parent d1c0:3 vqs 2\n vq 0 prio 1 limit 5b\n"
      "qdisc clsact ffff: dev eth2 parent ffff:fff1\n";
  CHECK_THAT(script_of(plan_of(site_of(running))),
             Contains("eth2) cat <<'END' ;;\nqdisc tbf 5: root rate 20Mbit\nEND\n"));
}

TEST_CASE("a text that is not tc's output is refused with its line") {
  for (const char* text : {"", "{}", "qdisc tbf 5: dev eth2 root\nnonsense\n", "qdisc tbf 5:\n"}) {
    INFO(text);
    const auto imported = tc().import({"running", text});
    REQUIRE_FALSE(imported.value);
    CHECK_THAT(to_text(imported.problems.front()), Contains("`tc qdisc show"));
  }
}

TEST_CASE("a string that is not an interface name is refused and not written to a script") {
  for (const char* name : {"eth0; reboot", "", "an-interface-too-long", "..", "a/b", "$(id)"}) {
    SwitchPlan plan = plan_of();
    plan.groups[1].group.ports = {name};
    CHECK_THAT(refusal_of(plan), Contains("this is not a name of a network interface"));
  }
}

TEST_CASE("a depth that exceeds the kernel's maximum is refused") {
  SwitchPlan plan = plan_of();
  plan.groups[0].queues[1].limit_bytes = 1U << 30;
  CHECK_THAT(refusal_of(plan), Contains("at most 1073741823 bytes"));
  plan.groups[0].queues[1].limit_bytes = (1U << 30) - 1;
  CHECK(tc().render(plan).problems.empty());
}

TEST_CASE("drops of droppable levels and marks of protected ones are as planned") {
  Json captured = capture();
  captured[2]["marked"] = 17;
  captured[4]["options"]["vqs"][0]["pdrop"] = 400;
  captured[4]["options"]["vqs"][1]["pdrop"] = 100;
  captured[4]["options"]["vqs"][2]["forced_mark"] = 900;
  CHECK(wrong(captured).empty());
  CHECK(judge(captured).size() == 7);
}

TEST_CASE("drops that DLCP does not cause are wrong, and each finding names a possible cause") {
  Json captured = capture();
  captured[1]["drops"] = 1;
  CHECK_THAT(wrong(captured),
             Contains("7 control: 1 of 1001 packets dropped; more than 20000000000"));
  captured = capture();
  captured[2]["drops"] = 2;
  CHECK_THAT(wrong(captured), Contains("5 exact: 2 packets dropped at 4000000 bytes"));
  captured = capture();
  captured[3]["options"]["vqs"][1]["forced_drop"] = 3;
  CHECK_THAT(wrong(captured), Contains("some packets arrive without ECT"));
  captured[3]["options"]["vqs"][1] = capture()[3]["options"]["vqs"][1];
  captured[3]["options"]["vqs"][1]["pdrop"] = 4;
  CHECK_THAT(wrong(captured), Contains("do not slow down"));
  captured = capture();
  captured[4]["options"]["vqs"][1]["pdrop"] = 5;
  CHECK_THAT(wrong(captured),
             Contains("bulk-middle: 1000 packets, 0 marked, 5 dropped; the level that "
                      "should be dropped first lost nothing"));
}

TEST_CASE("missing queues and queues that differ from the plan are distinguished") {
  Json captured = capture();
  captured[2]["options"]["min"] = 100'000;
  CHECK_THAT(wrong(captured), Contains("exact: red min is 100000, planned 103680"));
  captured = capture();
  captured[4]["options"]["vqs"][0]["limit"] = 99'999;
  CHECK_THAT(wrong(captured), Contains("bulk-droppable: the depths are not the planned ones"));
  captured = capture();
  captured.erase(1);
  CHECK_THAT(wrong(captured), Contains("control: the queue is missing"));
  captured = capture();
  captured[0]["options"]["bands"] = 4;
  CHECK_THAT(wrong(captured), Contains("render and apply again"));
  CHECK(judge(Json::array()).front().verdict == Verdict::kNotShown);
  const auto judged = tc().verify(captured_plan(), {"captured", "qdisc ets d1c0:"});
  REQUIRE_FALSE(judged.value);
  CHECK_THAT(to_text(judged.problems.front()), Contains("tc -s -j qdisc show"));
}
