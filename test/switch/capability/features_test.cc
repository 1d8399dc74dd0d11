// Properties of a fabric for gradients other than queues: tenants, headroom, and features that some
// targets have.
#include "switch/capability/features.h"

#include <algorithm>
#include <bitset>
#include <set>

#include "catch.h"
#include "switch/check/lint.h"
#include "switch/check/trace.h"
#include "switch/intent_text.h"
#include "switch/plan/buffer/headroom.h"

using namespace dlcp::fabric;
using dlcp::test::leaf_intent;
using dlcp::test::plan_of;
using dlcp::test::queue_named;

namespace {

struct TwoTenants {
  Intent intent;
  SwitchPlan plan;
};

TwoTenants two_tenants() {
  const std::string file =
      "control.dscp = 41\nexact.dscp = 19\nurgent-protected.dscp = 21\nurgent-droppable.dscp = 23\n"
      "bulk-protected.dscp = 11\nbulk-middle.dscp = 13\nbulk-droppable.dscp = 15\n";
  Sources sources = dlcp::test::no_sources();
  sources.read = [&file](const std::string&) {
    Checked<std::string> text;
    text.value = file;
    return text;
  };
  const std::string tenants =
      "tenants:\n  - {name: b, classes: b.conf, shares: {exact: 5%, urgent: 10%, bulk: 5%}}\n"
      "dlcp:\n  shares: {exact: 10%, urgent: 20%, bulk: 10%}\n";
  const auto intent =
      read_intent("test.yaml", tenants + leaf_intent("srlinux", "tomahawk4", "24.10"), sources);
  REQUIRE(intent.value);
  auto made = plan_switch(*intent.value, intent.value->switches.front());
  for (const Problem& problem : made.problems)
    UNSCOPED_INFO(to_text(problem));
  REQUIRE(made.value);
  return {*intent.value, *made.value};
}

}  // namespace

TEST_CASE(
    "A second tenant has its own queues and shares, and both tenants share the control queue") {
  const SwitchPlan plan = two_tenants().plan;
  double first = 0, second = 0;
  std::set<int> dscps;
  for (const QueuePlan& queue : plan.groups.front().queues) {
    (queue.tenant == 0 ? first : second) += queue.share_percent;
    for (const Level& level : queue.levels)
      for (const auto dscp : level.dscps)
        CHECK(dscps.insert(dscp).second);
    if (!queue.strict) continue;
    CHECK(queue.levels.front().dscps == std::vector<std::uint8_t>{40, 41});
  }
  CHECK(dscps.size() == 14);
  CHECK(first > 1.5 * second);
  CHECK(second > 0);
  CHECK(std::bitset<64>(plan.dlcp_dscps).count() == 14);
}

TEST_CASE(
    "A trace covers the classes of every tenant, and each tenant's classes stay in its own "
    "queues") {
  const SwitchPlan plan = two_tenants().plan;
  const std::vector<SwitchPlan> plans{plan};
  const auto from = find_endpoint(plans, "leaf1:Ethernet0"),
             to = find_endpoint(plans, "leaf1:Ethernet1");
  REQUIRE((from && to));
  auto traces = trace(*from, *to, {&plans.front()});
  CHECK(traces.size() == 14);
  CHECK(std::count_if(traces.begin(), traces.end(),
                      [](const ClassTrace& one) { return one.tenant == "b"; }) == 7);
  for (const ClassTrace& one : traces)
    CHECK(one.changed.empty());
  std::vector<SwitchPlan> swapped{plan};
  for (QueuePlan& queue : swapped.front().groups.front().queues)
    if (!queue.strict) queue.tenant = 1 - queue.tenant;
  traces = trace(*find_endpoint(swapped, "leaf1:Ethernet0"),
                 *find_endpoint(swapped, "leaf1:Ethernet1"), {&swapped.front()});
  CHECK(std::count_if(traces.begin(), traces.end(),
                      [](const ClassTrace& one) { return one.changed.empty(); }) == 2);  // control
}

TEST_CASE("It is an error if DSCPs of any tenant are rewritten on egress") {
  const auto [intent, plan] = two_tenants();
  SwitchPlan rewritten = plan;
  auto site = *plan.site;
  site.egress_rewrite = "rewrite";
  site.port_facts = {{"Ethernet0", 0, "", true, 0, 0, {}}};
  for (const DscpRow& row : plan.dscp)
    if (row.owner == Owner::kDlcp) site.class_to_dscp[row.traffic_class] = 63;
  for (const dlcp::TrafficClassRow& row : plan.classes)
    site.class_to_dscp[plan.dscp[row.dscp].traffic_class] = row.dscp;
  rewritten.site = std::make_shared<const SiteConfig>(site);
  rewritten.classes = {plan.classes[0], plan.classes[0], plan.classes[0], plan.classes[0],
                       plan.classes[0], plan.classes[0], plan.classes[0]};
  bool found = false;
  for (const Problem& problem : lint_switch(intent, intent.switches.front(), rewritten))
    found = found || (problem.rule == "egress-rewrite" &&
                      problem.what.find("of tenant 'b'") != std::string::npos);
  CHECK(found);
}

TEST_CASE("Headroom grows with the cable and the speed, and is unknown without a cable") {
  CHECK(headroom_bytes(400'000'000'000, 0, 9216) == 0);
  // 40 m in both directions at 400 Gb/s: 20.2 kB; 905 quanta: 57.9 kB; two packets.
  CHECK(headroom_bytes(400'000'000'000, 40, 9216) == 20'202 + 57'920 + 18'432);
  CHECK(headroom_bytes(400'000'000'000, 300, 9216) > headroom_bytes(400'000'000'000, 40, 9216));
  CHECK(headroom_bytes(100'000'000'000, 40, 9216) < headroom_bytes(400'000'000'000, 40, 9216));
  CHECK(headroom_bytes(800'000'000'000, 40, 9216) > headroom_bytes(400'000'000'000, 40, 9216));
}

TEST_CASE("A feature is planned if the release and the ASIC have it, and refused otherwise") {
  const std::string trim = "    trimming: {size: 256}\n    pfc_watchdog: {}\n";
  const auto plan = plan_of(leaf_intent("sonic", "spectrum4", "202511", trim));
  REQUIRE(plan.features.trimming);
  const auto* const control = queue_named(plan, "control");
  REQUIRE(control);
  CHECK(plan.features.trimming->queue == control->queue);
  CHECK(plan.features.trimming->dscp == 40);
  CHECK(plan.features.pfc_watchdog->detect_ms == 200);
  for (const auto& [asic, version] :
       {std::pair("spectrum4", "202411"), std::pair("spectrum3", "202511"),
        std::pair("tomahawk5", "202511")})
    CHECK_FALSE(dlcp::test::plan(leaf_intent("sonic", asic, version, trim)).value);
  const std::string spray = "    load_balancing: packet\n";
  CHECK(plan_of(leaf_intent("junos", "tomahawk5", "24.4R1", spray)).features.load_balancing ==
        LoadBalancing::kPacket);
  const auto refused = dlcp::test::plan(leaf_intent("sonic", "tomahawk5", "202605", spray));
  REQUIRE_FALSE(refused.problems.empty());
  CHECK(refused.problems.front().expected.find("junos") != std::string::npos);
}

TEST_CASE(
    "Rows without a recognisable owner are removed on request, if the system has such rows and the "
    "intent does not need them") {
  const std::string gone = "    remove: [trimming, pfc_watchdog]\n";
  const auto plan = plan_of(leaf_intent("sonic", "tomahawk4", "202311", gone));
  CHECK(plan.features.remove_trimming);
  CHECK(plan.features.remove_pfc_watchdog);
  const auto said = [](const std::string& intent) {
    const auto made = dlcp::test::plan(intent);
    return made.problems.empty() ? "" : to_text(made.problems.front());
  };
  CHECK_THAT(said(leaf_intent("srlinux", "tomahawk4", "24.10", gone)),
             Contains("srlinux has no separate rows of trimming"));
  CHECK_THAT(said(leaf_intent("sonic", "tomahawk4", "202311", "    remove: [trim]\n")),
             Contains("trimming or pfc_watchdog"));
  CHECK_THAT(
      said(leaf_intent("sonic", "spectrum4", "202511", "    trimming: {size: 256}\n" + gone)),
      Contains("only features that the entry does not request"));
}

TEST_CASE("Every feature of every target names its source") {
  for (const FeatureRow& row : feature_rows()) {
    INFO(row.os << ' ' << row.feature);
    CHECK(row.source.rfind("https://", 0) == 0);
    CHECK_FALSE(row.how.empty());
    CHECK((row.feature != "load_balancing" || !row.modes.empty()));
  }
}
