// Arista EOS: the import of a running-config, and the text that is written. eos_apply.py tests that
// a rollback after apply restores the running-config.
#include <sstream>

#include "catch.h"
#include "switch/vendor_plan.h"

using namespace dlcp;
using namespace dlcp::fabric;
using namespace dlcp::test;

namespace {

const Vendor& eos() {
  return *find_vendor("eos");
}
std::string leaf() {
  return read_text(DLCP_SWITCH_DATA "/eos/leaf.eos");
}
SwitchPlan plan_of(const std::string& text) {
  return make_plan(import_text(eos(), text), {"Ethernet1/1", "Ethernet2/1"}, {"Ethernet31/1"});
}
Rendering render_ok(const SwitchPlan& plan) {
  auto rendering = eos().render(plan);
  INFO(problems_of(rendering));
  REQUIRE(rendering.problems.empty());
  return rendering;
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the import of a running-config contains the site's settings, EOS's defaults included") {
  const auto site = import_text(eos(), leaf());
  CHECK(site.dscp_to_class[26] == 3);
  CHECK(site.dscp_to_class[48] == 6);
  CHECK(site.dscp_to_class[40] == 0);
  CHECK(site.default_class == 0);
  CHECK(site.pfc_priorities == 1u << 3);
  CHECK(site.queues[3].lossless);
  CHECK(site.queues[3].weight == 20u);
  CHECK(site.queues[6].strict);
  CHECK_FALSE(site.queues[5].in_use);
  CHECK_FALSE(site.queues[1].in_use);
  CHECK(site.ports.size() == 5);

  const auto bare = import_text(eos(), "interface Ethernet1/1\n   no switchport\n");
  CHECK(bare.dscp_to_class[0] == 1);
  CHECK(bare.dscp_to_class[8] == 0);
  CHECK(bare.dscp_to_class[26] == 3);
  CHECK(bare.queues[0].in_use);
  CHECK(bare.queues[1].in_use);
}

TEST_CASE(
    "a profile is a copy of the site's with DLCP's queues, and a notice says that it is "
    "unverified") {
  const auto rendering = render_ok(plan_of(leaf()));
  const auto& definitions = file_of(rendering, "10-definitions.eos");
  CHECK_FALSE(definitions.grammar_checked);
  CHECK(definitions.text.rfind("! UNVERIFIED", 0) == 0);
  CHECK_THAT(definitions.text, Contains("qos map dscp 40 to traffic-class 7 drop-precedence 0\n"));
  CHECK_THAT(definitions.text, Contains("qos map dscp 14 to traffic-class 2 drop-precedence 2\n"));
  // Class 7 leads to queue 7 by default, without a statement.
  CHECK(definitions.text.find("qos map traffic-class") == std::string::npos);
  CHECK(definitions.text.find("qos map dscp 26") == std::string::npos);
  CHECK_THAT(definitions.text, Contains("qos profile DLCP-1-STORAGE\n   qos trust dscp\n"));
  CHECK_THAT(definitions.text,
             Contains("   uc-tx-queue 7\n      !! DLCP control\n      priority strict\n"
                      "      shape rate 20000000 kbps\n"));
  CHECK_THAT(definitions.text,
             Contains("   uc-tx-queue 2\n      !! DLCP bulk\n      bandwidth percent 15\n"
                      "      no priority\n"
                      "      random-detect ecn minimum-threshold 150016 bytes maximum-threshold "
                      "150272 bytes max-mark-probability 100 weight 0\n"
                      "      random-detect drop drop-precedence 2 minimum-threshold 150016 bytes "
                      "maximum-threshold 150272 bytes drop-probability 100 weight 0\n"));
  // The site's queues are copied, except for the one that DLCP uses.
  CHECK_THAT(definitions.text, Contains("   uc-tx-queue 6\n      priority strict\n"
                                        "      shape rate 5 percent\n"));
  CHECK(definitions.text.find("bandwidth percent 1\n") == std::string::npos);
  CHECK_THAT(definitions.text, Contains("priority-flow-control priority 3 no-drop\n"));
  CHECK_THAT(definitions.text, Contains("qos profile DLCP-1-none\n   qos trust dscp\n"));
  CHECK_THAT(file_of(rendering, "20-ports-01-host.eos").text,
             Contains("interface Ethernet1/1\n   service-profile DLCP-1-STORAGE\n"));
  const auto& back = file_of(rendering, "rollback/20-ports-02-fabric.eos");
  CHECK_THAT(back.text, Contains("interface Ethernet31/1\n   no service-profile\n"));
  CHECK(back.text.rfind("! UNVERIFIED", 0) == 0);
  const auto& undo = file_of(rendering, "rollback/10-definitions.eos").text;
  CHECK_THAT(undo, Contains("qos map dscp 40 to traffic-class 0\n"));
  CHECK_THAT(undo, Contains("no qos profile DLCP-1-STORAGE\n"));
}

TEST_CASE(
    "a class with another queue number gets a statement, and the rollback restores all "
    "statements") {
  auto plan = plan_of(leaf());
  plan.groups[0].queues[3].traffic_class = 5;
  const auto rendering = render_ok(plan);
  CHECK_THAT(file_of(rendering, "10-definitions.eos").text,
             Contains("qos map traffic-class 5 to tx-queue 2\n"));
  CHECK_THAT(file_of(rendering, "rollback/10-definitions.eos").text,
             Contains("no qos map traffic-class 5 to tx-queue 2\n"));
}

TEST_CASE("queues are strict unless they or a higher queue have `no priority`") {
  const auto site = import_text(eos(), leaf());
  CHECK_FALSE(site.queues[0].strict);
  CHECK_FALSE(site.queues[3].strict);
  CHECK(site.queues[4].strict);
  CHECK(site.queues[6].strict);
  const auto lower = replaced(leaf(), "      bandwidth percent 20\n      no priority\n      random",
                              "      random");
  CHECK(import_text(eos(), lower).queues[3].strict);
  // DLCP's round-robin queue 5 would make the strict queue round-robin, too.
  CHECK_THAT(problems_of(eos().render(plan_of(lower))),
             Contains("would make the site's strict queue 3 round-robin"));
}

TEST_CASE("DLCP's DSCPs must be trusted: a profile that trusts another field is refused") {
  const auto cos = replaced(leaf(), "qos trust dscp", "qos trust cos");
  CHECK_THAT(problems_of(eos().render(plan_of(cos))), Contains("does not trust DSCPs"));
  const auto silent = replaced(leaf(), "   qos trust dscp\n", "");
  CHECK_THAT(file_of(render_ok(plan_of(silent)), "10-definitions.eos").text,
             Contains("qos profile DLCP-1-STORAGE\n   qos trust dscp\n"));
}

TEST_CASE("rewriting on egress is imported, including the default map") {
  const auto site =
      import_text(eos(), leaf() + "qos rewrite dscp\nqos map traffic-class 2 to dscp 9\n");
  CHECK(site.egress_rewrite == "qos rewrite dscp");
  CHECK(site.class_to_dscp[2] == 9);
  CHECK(site.class_to_dscp[6] == 48);
  CHECK(find_port(site, "Ethernet1/1")->rewrites_dscps);
  CHECK(import_text(eos(), leaf()).egress_rewrite.empty());
}

TEST_CASE("an earlier change is recognised by its queues, and its DSCPs can be planned again") {
  std::string text = leaf();
  text += "qos map dscp 18 to traffic-class 5 drop-precedence 0\n";
  text += "qos profile DLCP-1-STORAGE\n   uc-tx-queue 5\n      !! DLCP exact\n";
  text = replaced(text, "service-profile STORAGE", "service-profile DLCP-1-STORAGE");
  const auto site = import_text(eos(), text);
  CHECK(site.dlcp_queues == 1u << 5);
  CHECK(site.dlcp_dscps == std::uint64_t{1} << 18);
  CHECK_FALSE(site.queues[5].in_use);
  CHECK(site.queues[3].weight == 20u);
}

TEST_CASE("a port without DLCP senders rewrites DLCP's DSCPs on ingress") {
  auto plan = plan_of(leaf());
  plan.groups[0].group.trust = Trust::kRemarked;
  plan.groups[0].group.remark_dscp = 26;
  const auto rendering = render_ok(plan);
  const auto& text = file_of(rendering, "10-definitions.eos").text;
  CHECK_THAT(text, Contains("class-map type qos match-any DLCP-marks\n"
                            "   match dscp 10,12,14,18,20,22,40\n"));
  CHECK_THAT(text, Contains("      set dscp 26\n      set traffic-class 3\n"));
  CHECK_THAT(text, Contains("service-policy type qos input DLCP-as-26\n"));
}

TEST_CASE("plans that EOS would refuse, or that would change the site's settings, are refused") {
  auto plan = plan_of(leaf());
  const auto refusal = [&] { return problems_of(eos().render(plan)); };
  SECTION("a threshold beyond the range") {
    plan.groups[0].queues[1].mark_bytes = 3'000'000'000;
    CHECK_THAT(refusal(), Contains("is not valid in Arista EOS"));
  }
  SECTION("a share of zero percent") {
    plan.groups[0].queues[1].weight = 0;
    CHECK_THAT(refusal(), Contains("expected 1..100"));
  }
  SECTION("a drop precedence that EOS does not have") {
    plan.dscp[14].drop_precedence = 3;
    CHECK_THAT(refusal(), Contains("drop-precedence"));
  }
  SECTION("a port that does not exist") {
    plan.groups[0].group.ports.push_back("Ethernet9/1");
    CHECK_THAT(refusal(), Contains("port Ethernet9/1 is not in the imported"));
  }
  SECTION("a port with its own queue settings") {
    plan = plan_of(replaced(leaf(), "   description host\n", "   uc-tx-queue 5\n"));
    CHECK_THAT(refusal(), Contains("port Ethernet1/1 has its own QoS"));
  }
}

TEST_CASE("ports with settings of their own, or with objects that the text lacks, are refused") {
  const auto refusal = [](const std::string& line) {
    return problems_of(eos().render(plan_of(replaced(leaf(), "   description host\n", line))));
  };
  CHECK_THAT(refusal("   qos trust cos\n"), Contains("port Ethernet1/1 has its own QoS"));
  CHECK_THAT(refusal("   no qos trust\n"), Contains("port Ethernet1/1 has its own QoS"));
  CHECK_THAT(refusal("   service-policy type qos input P\n"), Contains("has its own QoS"));
  CHECK(refusal("   qos trust dscp\n").empty());
  const auto missing =
      eos().import({"leaf.eos", "interface Ethernet1/1\n   service-profile NONE\n"});
  REQUIRE_FALSE(missing.value);
  CHECK_THAT(to_text(missing.problems.at(0)), Contains("NONE, which is not in this file"));
}

TEST_CASE("a profile of an earlier render that no port uses any more is removed") {
  const auto rendering = render_ok(
      plan_of(leaf() + "qos profile DLCP-7-OLD\n   uc-tx-queue 5\n      bandwidth percent 1\n"));
  CHECK_THAT(file_of(rendering, "90-cleanup.eos").text, Contains("no qos profile DLCP-7-OLD\n"));
}

TEST_CASE("a text that is not a running-config is refused with its line") {
  const auto text_of = [](const std::string& text) {
    const auto result = eos().import({"leaf.eos", text});
    REQUIRE_FALSE(result.value);
    return to_text(result.problems.at(0));
  };
  CHECK_THAT(text_of(""), Contains("neither QoS nor interfaces"));
  CHECK_THAT(text_of("!\n% Invalid input\n"), Contains("leaf.eos:2: error"));
  CHECK_THAT(text_of("qos map dscp 64 to traffic-class 1\n"), Contains("numbers 0..63"));
  CHECK_THAT(text_of("qos map dscp 3 to traffic-class 8\n"),
             Contains("the switch prints all ports"));
  CHECK_THAT(text_of("qos map dscp 3 to traffic-class 8\ninterface Ethernet1\n"),
             Contains("expected 0..7"));
}
