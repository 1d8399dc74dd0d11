// The semantic checks: each rule reports only a plan that violates it.
#include "switch/check/lint.h"

#include <algorithm>
#include <functional>

#include "catch.h"
#include "intent_text.h"

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

QueuePlan& bulk_of(Scene& scene) {
  return scene.plan.groups.front().queues.front();
}

}  // namespace

TEST_CASE("A correct plan has no errors, and a note states the requirements for senders") {
  const Scene scene = scene_of(leaf_intent());
  const auto found = lint_switch(scene.intent, scene.device, scene.plan);
  CHECK_FALSE(has_errors(found));
  CHECK(severity_after("ecn-per-packet", [](Scene&) {}) == "note");
  CHECK(severity_after(
            "ecn-per-packet", [](Scene&) {}, leaf_intent("eos", "tomahawk4", "4.30.2F"))
            .empty());
}

TEST_CASE("PFC, lossless queues and trimming must not affect DLCP's queues") {
  CHECK(severity_after(
            "pfc-on-dlcp-queue", [](Scene&) {})
            .empty());
  CHECK(severity_after(
            "pfc-on-dlcp-queue",
            [](Scene& scene) {
              scene.site.pfc_priorities |= static_cast<std::uint8_t>(1U << bulk_of(scene).queue);
            }) == "error");
  CHECK(severity_after(
            "lossless-dlcp-queue",
            [](Scene& scene) { scene.site.queues[bulk_of(scene).queue].lossless = true; }) ==
        "error");
  CHECK(severity_after(
            "trimming-on-lossless", [](Scene& scene) { scene.site.queues[3].trimming = true; }) ==
        "error");
  CHECK(severity_after("trimming-on-lossless", [](Scene& scene) {
          scene.site.queues[5].trimming = true;
        }).empty());
}

TEST_CASE("The site's DSCP rows are unchanged") {
  CHECK(severity_after(
            "site-row-changed", [](Scene&) {})
            .empty());
  CHECK(severity_after(
            "site-row-changed", [](Scene& scene) { scene.plan.dscp[26].traffic_class = 1; }) ==
        "error");
  CHECK(severity_after("site-row-changed",
                       [](Scene& scene) { scene.plan.dscp[26].mapped = false; }) == "error");
  CHECK(severity_after("unmapped-dscps", [](Scene& scene) {
          scene.site.dscp_to_class[1].reset();
          scene.plan.dscp[1].mapped = false;
        }) == "warning");
}

TEST_CASE("DSCPs that are commonly used for other traffic cause a warning") {
  CHECK(severity_after(
            "customary-dscp", [](Scene&) {})
            .empty());
  CHECK(severity_after("customary-dscp", [](Scene& scene) { scene.plan.classes[0].dscp = 46; }) ==
        "warning");
}

TEST_CASE("Depths are in order, and within the limit, the target's range and the chip's buffer") {
  CHECK(severity_after(
            "level-order", [](Scene& scene) { bulk_of(scene).levels.back().drop_bytes = 1; }) ==
        "error");
  CHECK(severity_after("beyond-limit", [](Scene& scene) {
          bulk_of(scene).levels.front().drop_bytes = bulk_of(scene).limit_bytes + 1;
        }) == "error");
  CHECK(severity_after("out-of-range", [](Scene& scene) {
          bulk_of(scene).levels.front().drop_bytes = 2'147'483'647;
          bulk_of(scene).limit_bytes = 3'000'000'000;
        }) == "error");
  CHECK(severity_after(
            "beyond-buffer",
            [](Scene& scene) {
              scene.device.lossy_pool_bytes = 60'000'000;
              scene.site.lossless_headroom_bytes = 60'000'000;
            }) == "error");
  CHECK(severity_after("beyond-buffer", [](Scene& scene) {
          scene.device.lossy_pool_bytes = 60'000'000;
        }).empty());
}

TEST_CASE("No queue starves: strict queues have rate limits, and every class keeps a share") {
  CHECK(severity_after("unshaped-strict", [](Scene& scene) {
          scene.plan.groups.front().queues.back().shape_bits_per_second = 0;
          scene.site.queues[6].strict = false;
        }) == "error");
  CHECK(severity_after(
            "unshaped-strict", [](Scene&) {}) == "warning");  // the site's own queue 6
  CHECK(severity_after(
            "unshaped-strict",
            [](Scene& scene) { scene.site.queues[6].shaped_bits_per_second = 1'000'000; })
            .empty());
  CHECK(severity_after(
            "starved-class", [](Scene& scene) { scene.site.queues[5].weight = 1; }) == "warning");
  CHECK(severity_after("starved-class", [](Scene& scene) { bulk_of(scene).share_percent = 0.5; }) ==
        "error");
}

TEST_CASE("Ports must exist in the running configuration") {
  CHECK(severity_after(
            "unknown-port",
            [](Scene& scene) {
              scene.site.ports = {"Ethernet0", "Ethernet1", "Ethernet2", "Ethernet3"};
            })
            .empty());
  CHECK(severity_after("unknown-port", [](Scene& scene) {
          scene.site.ports = {"Ethernet0", "Ethernet1", "Ethernet2"};
        }) == "error");
}

TEST_CASE("Ports of a declared site must have the form of the system's physical port names") {
  const auto said = [](const char* os, const char* asic, const char* version, const char* port) {
    auto text = leaf_intent(os, asic, version);
    const auto at = text.find("ports: \"");
    text.replace(at, text.find('"', at + 8) + 1 - at, std::string("ports: \"") + port + '"');
    return severity_after(
        "port-name", [](Scene&) {}, text);
  };
  CHECK(said("sonic", "tomahawk4", "202311", "Ethernet512").empty());
  for (const char* port : {"Ethernet0.10", "Ethernet0/1", "Ethernet", "Vlan100", "PortChannel1"})
    CHECK(said("sonic", "tomahawk4", "202311", port) == "error");
  CHECK(said("eos", "tomahawk4", "4.30.2F", "Ethernet3/1/4").empty());
  CHECK(said("eos", "tomahawk4", "4.30.2F", "Ethernet3/1.100") == "error");
  CHECK(said("cumulus", "spectrum4", "5.9", "swp1s3").empty());
  CHECK(said("cumulus", "spectrum4", "5.9", "swp1.100") == "error");
  CHECK(said("junos", "tomahawk4", "24.4R1", "et-0/0/0:3").empty());
  CHECK(said("junos", "tomahawk4", "24.4R1", "et-0/0/0.0") == "error");
  CHECK(said("iosxr", "silicon-one-g200", "25.3", "FourHundredGigE0/0/0/1").empty());
  CHECK(said("iosxr", "silicon-one-g200", "25.3", "HundredGigE0/0/0/1/2").empty());
  CHECK(said("iosxr", "silicon-one-g200", "25.3", "Bundle-Ether1") == "error");
}

TEST_CASE("Untrusted ports that keep DLCP's DSCPs cause a warning") {
  auto text = leaf_intent();
  text.replace(text.find("trust: dscp"), 11, "trust: remark");
  CHECK(severity_after(
            "marks-survive", [](Scene&) {}, text) == "warning");
  CHECK(severity_after("marks-survive", [](Scene&) {}).empty());
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
    return severity_after(
        "unread-release", [](Scene&) {}, leaf_intent("sonic", "tomahawk4", version));
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
  CHECK(severity_after(
            "lag-members", [](Scene&) {}, text)
            .empty());
  CHECK(severity_after(
            "overlay-copies-marks", [](Scene&) {}, text) == "warning");
  CHECK(severity_after("overlay-copies-marks", [](Scene&) {}).empty());
  text.replace(text.find("trust: dscp"), 11, "trust: dscp, lag: Port-Channel1");
  CHECK(severity_after(
            "lag-members", [](Scene&) {}, text) == "note");
}

TEST_CASE("Members of an imported link aggregate cause a note if the intent does not mention it") {
  CHECK(severity_after(
            "lag-members",
            [](Scene& scene) {
              for (const auto& port : scene.plan.groups.front().group.ports) {
                SitePort& member = scene.site.port_facts.emplace_back();
                member.name = port;
                member.lag = "PortChannel1";
              }
            }) == "note");
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
