// The semantic checks: each rule reports only a plan that violates it.
#include "switch/check/lint.h"

#include <algorithm>
#include <functional>

#include "catch.h"
#include "switch/intent_text.h"

using namespace dlcp::fabric;
using dlcp::test::leaf_intent;
using dlcp::test::three_levels;

namespace {

struct Scene {
  Intent intent;
  SwitchIntent device;
  SwitchPlan plan;
  SiteConfig site;  // the plan's site
};

Scene scene_of(const std::string& text) {
  auto intent = dlcp::test::read(text);
  REQUIRE(intent.value);
  Scene scene{*intent.value, intent.value->switches.front(), {}, {}};
  auto plan = plan_switch(scene.intent, scene.device);
  REQUIRE(plan.value);
  scene.plan = *plan.value;
  scene.site = *plan.value->site;
  return scene;
}

// The severity that the rule reports after `change` to a correct plan; empty: no report.
std::string severity_after(const std::string& rule, const std::function<void(Scene&)>& change,
                           const std::string& text = leaf_intent()) {
  Scene scene = scene_of(text);
  change(scene);
  scene.plan.site = std::make_shared<const SiteConfig>(scene.site);
  for (const Problem& problem : lint_switch(scene.intent, scene.device, scene.plan)) {
    if (problem.rule != rule) continue;
    return problem.severity == Severity::kError     ? "error"
           : problem.severity == Severity::kWarning ? "warning"
                                                    : "note";
  }
  return "";
}

std::string severity(const std::string& rule, const std::string& text) {
  return severity_after(
      rule, [](Scene&) {}, text);
}

QueuePlan& bulk_of(Scene& scene) {
  return scene.plan.groups.front().queues.front();
}

}  // namespace

TEST_CASE("A correct plan has no errors, and a note states the requirements for senders") {
  const Scene scene = scene_of(leaf_intent());
  const auto found = lint_switch(scene.intent, scene.device, scene.plan);
  CHECK_FALSE(has_errors(found));
  CHECK(severity("ecn-per-packet", leaf_intent("eos", "tomahawk4", "4.30.2F")).empty());
}

namespace {

// A change to a correct plan, and what the rule reports.
struct Row {
  const char* rule;
  const char* severity;  // empty: no report
  void (*change)(Scene&);
};
void none(Scene&) {}

const Row kChanges[] = {
    // PFC, lossless queues and trimming must not affect DLCP's queues.
    {"pfc-on-dlcp-queue", "", none},
    {"pfc-on-dlcp-queue", "error",
     [](Scene& s) { s.site.pfc_priorities |= static_cast<std::uint8_t>(1U << bulk_of(s).queue); }},
    {"lossless-dlcp-queue", "error",
     [](Scene& s) { s.site.queues[bulk_of(s).queue].lossless = true; }},
    {"trimming-on-lossless", "error", [](Scene& s) { s.site.queues[3].trimming = true; }},
    {"trimming-on-lossless", "", [](Scene& s) { s.site.queues[5].trimming = true; }},
    // The site's DSCP rows are unchanged.
    {"site-row-changed", "", none},
    {"site-row-changed", "error", [](Scene& s) { s.plan.dscp[26].traffic_class = 1; }},
    {"site-row-changed", "error", [](Scene& s) { s.plan.dscp[26].mapped = false; }},
    {"unmapped-dscps", "warning",
     [](Scene& s) { s.site.dscp_to_class[1].reset(), s.plan.dscp[1].mapped = false; }},
    // DSCPs that are commonly used for other traffic.
    {"customary-dscp", "", none},
    {"customary-dscp", "warning", [](Scene& s) { s.plan.classes[0].dscp = 46; }},
    // Depths are in order, and within the limit, the target's range and the chip's buffer.
    {"level-order", "error", [](Scene& s) { bulk_of(s).levels.back().drop_bytes = 1; }},
    {"beyond-limit", "error",
     [](Scene& s) { bulk_of(s).levels.front().drop_bytes = bulk_of(s).limit_bytes + 1; }},
    {"out-of-range", "error",
     [](Scene& s) {
       bulk_of(s).levels.front().drop_bytes = 2'147'483'647;
       bulk_of(s).limit_bytes = 3'000'000'000;
     }},
    {"beyond-buffer", "error",
     [](Scene& s) { s.device.lossy_pool_bytes = s.site.lossless_headroom_bytes = 60'000'000; }},
    {"beyond-buffer", "", [](Scene& s) { s.device.lossy_pool_bytes = 60'000'000; }},
    // No queue starves: strict queues have rate limits, and every class keeps a share.
    {"unshaped-strict", "error",
     [](Scene& s) {
       s.plan.groups.front().queues.back().shape_bits_per_second = 0;
       s.site.queues[6].strict = false;
     }},
    {"unshaped-strict", "warning", none},  // the site's own queue 6
    {"unshaped-strict", "", [](Scene& s) { s.site.queues[6].shaped_bits_per_second = 1'000'000; }},
    {"starved-class", "warning", [](Scene& s) { s.site.queues[5].weight = 1; }},
    {"starved-class", "error", [](Scene& s) { bulk_of(s).share_percent = 0.5; }},
    // Ports exist in the running configuration.
    {"unknown-port", "",
     [](Scene& s) {
       s.site.ports = {"Ethernet0", "Ethernet1", "Ethernet2", "Ethernet3"};
     }},
    {"unknown-port", "error",
     [](Scene& s) {
       s.site.ports = {"Ethernet0", "Ethernet1", "Ethernet2"};
     }},
    // Members of an imported link aggregate that the intent does not mention.
    {"lag-members", "note",
     [](Scene& s) {
       for (const auto& port : s.plan.groups.front().group.ports) {
         SitePort& member = s.site.port_facts.emplace_back();
         member.name = port;
         member.lag = "PortChannel1";
       }
     }},
    // The requirements for senders, and untrusted ports that keep DLCP's DSCPs.
    {"ecn-per-packet", "note", none},
    {"marks-survive", "", none},
    {"overlay-copies-marks", "", none},
};

}  // namespace

TEST_CASE("A change to a correct plan is reported by the rule that it breaks, with its severity") {
  for (const Row& row : kChanges) {
    INFO(row.rule << " in row " << &row - kChanges);
    CHECK(severity_after(row.rule, row.change) == row.severity);
  }
}

TEST_CASE("Ports of a declared site must have the form of the system's physical port names") {
  struct Row {
    const char *os, *asic, *version;
    std::vector<const char*> valid, invalid;
  };
  const Row table[] = {
      {"sonic",
       "tomahawk4",
       "202311",
       {"Ethernet512"},
       {"Ethernet0.10", "Ethernet0/1", "Ethernet", "Vlan100", "PortChannel1"}},
      {"eos", "tomahawk4", "4.30.2F", {"Ethernet3/1/4"}, {"Ethernet3/1.100"}},
      {"cumulus", "spectrum4", "5.9", {"swp1s3"}, {"swp1.100"}},
      {"junos", "tomahawk4", "24.4R1", {"et-0/0/0:3"}, {"et-0/0/0.0"}},
      {"iosxr",
       "silicon-one-g200",
       "25.3",
       {"FourHundredGigE0/0/0/1", "HundredGigE0/0/0/1/2"},
       {"Bundle-Ether1"}},
  };
  for (const Row& row : table) {
    const auto check = [&](const char* port, const char* expected) {
      INFO(row.os << ' ' << port);
      auto text = leaf_intent(row.os, row.asic, row.version);
      const auto at = text.find("ports: \"");
      text.replace(at, text.find('"', at + 8) + 1 - at, std::string("ports: \"") + port + '"');
      CHECK(severity("port-name", text) == expected);
    };
    for (const char* port : row.valid)
      check(port, "");
    for (const char* port : row.invalid)
      check(port, "error");
  }
}

TEST_CASE("Untrusted ports that keep DLCP's DSCPs cause a warning") {
  auto text = leaf_intent();
  text.replace(text.find("trust: dscp"), 11, "trust: remark");
  CHECK(severity("marks-survive", text) == "warning");
}

TEST_CASE("DSCPs are kept if the intent lists no uplinks at which they would be rewritten") {
  auto text = leaf_intent("sonic", "tomahawk4", "202411");
  text.replace(text.find("trust: dscp"), 11, "trust: remark");
  const auto found = [](const std::string& intent) {
    const Scene scene = scene_of(intent);
    for (const Problem& problem : lint_switch(scene.intent, scene.device, scene.plan))
      if (problem.rule == "marks-survive") return problem.hint;
    return std::string();
  };
  CHECK(found(text).find("- {ports: \"EthernetUPLINKS\", role: fabric") != std::string::npos);
  CHECK(found(text + "      - {ports: \"Ethernet[8-9]\", role: fabric}\n").find("UPLINKS") ==
        std::string::npos);
}

TEST_CASE(
    "A release without known documentation causes a warning, but a dated build of a known release "
    "does not") {
  const auto said = [](const std::string& version) {
    return severity("unread-release", leaf_intent("sonic", "tomahawk4", version));
  };
  CHECK(said("202711") == "warning");
  CHECK(said("202511").empty());
  CHECK(said("20240510.12").empty());
  CHECK(said("master").empty());
  CHECK_FALSE(is_since("sonic", "20240510.12", "202411"));
  CHECK(is_since("sonic", "20240510.12", "202405"));
}

TEST_CASE("Link aggregates and overlays cause notes for the operator") {
  auto text = leaf_intent("eos", "tomahawk4", "4.30.2F", "    overlay: vxlan-uniform\n");
  CHECK(severity("lag-members", text).empty());
  CHECK(severity("overlay-copies-marks", text) == "warning");
  text.replace(text.find("trust: dscp"), 11, "trust: dscp, lag: Port-Channel1");
  CHECK(severity("lag-members", text) == "note");
}

TEST_CASE("Equal hash seeds on neighbouring tiers and different numbers of levels are reported") {
  const Scene scene = scene_of(leaf_intent());
  SwitchPlan leaf = scene.plan;
  SwitchPlan spine = scene.plan;
  spine.role = SwitchRole::kSpine;
  leaf.hash_seed = spine.hash_seed = 7;
  const auto rules = [&scene](const std::vector<SwitchPlan>& plans) {
    std::string text;
    for (const Problem& problem : lint_fabric(scene.intent, plans))
      text += problem.rule + ' ';
    return text;
  };
  CHECK(rules({leaf, spine}) == "polarisation ");
  spine.hash_seed = 8;
  CHECK(rules({leaf, spine}).empty());
  const Scene arista = scene_of(three_levels(leaf_intent("eos", "tomahawk5", "4.30.2F")));
  CHECK(rules({leaf, arista.plan}) == "uneven-levels ");
}

TEST_CASE(
    "Depths that are planned for other shares than hosts send cause a warning with both shares") {
  const auto found = [](const std::string& text) {
    const Scene scene = scene_of(text);
    std::string said;
    for (const Problem& problem : lint_fabric(scene.intent, {scene.plan}))
      if (problem.rule == "level-shares") said += to_text(problem);
    return said;
  };
  CHECK(found(leaf_intent()).empty());
  const std::string said = found(three_levels(leaf_intent()));
  CHECK_THAT(said, Contains("test.yaml:3") || Contains("test.yaml:2"));
  CHECK_THAT(said, Contains("warning"));
  CHECK_THAT(said, Contains("states bulk 25/25/50"));
  CHECK_THAT(said, Contains("hosts send bulk 25/0/75"));
}

TEST_CASE("A queue that is lossless by default is reported if the site gives it up") {
  const auto give = [](Scene& scene) {
    scene.plan.capabilities.lossless_queues = {bulk_of(scene).queue};
    scene.site.permitted_queues |= static_cast<std::uint8_t>(1U << bulk_of(scene).queue);
  };
  CHECK(severity_after("system-lossless-queue", give) == "warning");
  CHECK(severity("system-lossless-queue", leaf_intent()).empty());
}
