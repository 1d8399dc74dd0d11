// Plans: the queue of each class, merges with their reasons, and refusals.
#include "switch/plan/plan.h"

#include <algorithm>
#include <bitset>
#include <set>

#include "catch.h"
#include "switch/intent_text.h"
#include "switch/plan/queues/layout.h"

using namespace dlcp::fabric;
using dlcp::TrafficClass;
using dlcp::test::leaf_intent;
using dlcp::test::plan_of;
using dlcp::test::queue_named;
using dlcp::test::three_levels;

namespace {

bool says(const std::vector<Merge>& merges, const std::string& what) {
  return std::any_of(
      merges.begin(), merges.end(),
      [&what](const Merge& merge) {
        return (merge.what + merge.reason).find(what) != std::string::npos;
      });
}

// Invariants of every plan, whatever the target.
void check_invariants(const SwitchPlan& plan) {
  std::set<int> queues;
  for (const PortGroupPlan& group : plan.groups) {
    for (const QueuePlan& queue : group.queues) {
      INFO(plan.os << ' ' << queue.name);
      queues.insert(queue.queue);
      CHECK((plan.site->pfc_priorities >> queue.queue & 1) == 0);
      CHECK((plan.site->pfc_priorities >> queue.traffic_class & 1) == 0);
      CHECK(queue.strict == (queue.shape_bits_per_second > 0));
      CHECK((queue.strict || queue.weight > 0));
      REQUIRE_FALSE(queue.levels.empty());
      std::uint64_t deepest = 0;
      double share = 0;
      for (const Level& level : queue.levels) {
        share += level.share;
        CHECK(level.needs_bytes > deepest);
        deepest = level.needs_bytes;
      }
      CHECK(share == Approx(1.0));
      if (!queue.strict) CHECK(double(deepest) <= 0.81 * double(queue.limit_bytes));
      if (queue.mark_bytes) CHECK(*queue.mark_bytes <= queue.limit_bytes);
    }
  }
  CHECK(queues.size() == plan.groups.front().queues.size());
  for (int dscp = 0; dscp < kDscpCount; ++dscp) {
    const DscpRow& row = plan.dscp[dscp];
    if (row.owner == Owner::kSite) {
      CHECK(row.traffic_class == plan.site->dscp_to_class[dscp]);
      CHECK(queues.count(row.queue) == 0);
    } else {
      CHECK(queues.count(row.queue) == 1);
    }
  }
}

}  // namespace

TEST_CASE("For every known target, the plan keeps DLCP and the site separate") {
  struct Target {
    const char *system, *asic, *version;
  };
  for (const Target& target :
       {Target{"sonic", "tomahawk4", "202311"}, Target{"sonic", "spectrum4", "202405"},
        Target{"cumulus", "spectrum4", "5.14"}, Target{"eos", "trident4", "4.30.2F"},
        Target{"tc", "software", "6.1"}})
    check_invariants(plan_of(leaf_intent(target.system, target.asic, target.version)));
  check_invariants(
      plan_of(leaf_intent("sonic", "generic", "master", "    buffer: {lossy_pool: 40MB}\n")));
}

TEST_CASE("Every class has a queue, or the plan reports the merge") {
  const std::string named = "dlcp:\n  queues: {control: 7, exact: 1, urgent: 2, bulk: 4}\n";
  // Three queues are free: bulk joins urgent, and their droppable packets use the queue of bulk.
  const auto junos = plan_of(named + leaf_intent("junos", "tomahawk4", "24.4R1"));
  for (const auto& row : junos.classes)
    CHECK(junos.dscp[row.dscp].owner == Owner::kDlcp);
  const auto all = dlcp::test::plan(
      named + leaf_intent("sonic", "generic", "master", "    buffer: {lossy_pool: 40MB}\n"));
  if (all.value)
    for (const auto& row : all.value->classes)
      CHECK(all.value->dscp[row.dscp].owner == Owner::kDlcp);
  else
    CHECK_THAT(all.problems.front().what, Contains("no queue is left for"));
}

TEST_CASE("A level that no sender marks gets no depth") {
  const auto plan = plan_of(leaf_intent("eos", "tomahawk4", "4.30.2F"));
  CHECK(queue_named(plan, "bulk")->levels.size() == 2);
  CHECK_FALSE(says(plan.merges, "drop level"));
  const auto& levels = queue_named(plan, "bulk")->levels;
  const auto& urgent = queue_named(plan, "urgent")->levels;
  CHECK(levels.back().needs_bytes == urgent.back().needs_bytes);
}

TEST_CASE("Colours distinguish three levels of bulk and ECT two, and the plan reports it") {
  const auto eos = plan_of(three_levels(leaf_intent("eos", "tomahawk5", "4.30.2F")));
  CHECK(queue_named(eos, "bulk")->levels.size() == 3);
  CHECK(queue_named(eos, "urgent")->levels.size() == 2);
  CHECK_FALSE(says(eos.merges, "drop level"));
  const auto sonic = plan_of(three_levels(leaf_intent()));
  CHECK(queue_named(sonic, "bulk")->levels.size() == 2);
  CHECK(says(sonic.merges, "bulk-droppable and bulk-middle are one drop level"));
  CHECK(says(sonic.merges, "distinguishes 2 levels"));
}

TEST_CASE("If marks and drops share a threshold, they are planned at one depth") {
  const auto sonic = plan_of(leaf_intent());
  const QueuePlan& bulk = *queue_named(sonic, "bulk");
  CHECK(bulk.levels.front().drop_bytes == bulk.mark_bytes);
  const auto eos = plan_of(leaf_intent("eos", "tomahawk4", "4.30.2F"));
  CHECK(*queue_named(eos, "bulk")->levels.front().drop_bytes >
        *queue_named(eos, "bulk")->mark_bytes);
}

TEST_CASE("Protected classes are never dropped early, and control is not even marked") {
  const auto plan = plan_of(leaf_intent("eos", "tomahawk4", "4.30.2F"));
  CHECK_FALSE(queue_named(plan, "bulk")->levels.back().drop_bytes);
  CHECK_FALSE(queue_named(plan, "exact")->levels.back().drop_bytes);
  CHECK_FALSE(queue_named(plan, "control")->mark_bytes);
  CHECK(queue_named(plan, "control")->shape_bits_per_second == 40'000'000'000);
}

TEST_CASE("An unknown ASIC gets a separate queue for droppable packets") {
  const auto plan = plan_of(
      leaf_intent("sonic", "generic", "202311", "    buffer: {lossy_pool: 40MB}\n", "24-31: 3"));
  const QueuePlan* shed = queue_named(plan, "urgent+bulk-droppable");
  REQUIRE(shed != nullptr);
  CHECK(shed->levels.size() == 1);
  CHECK(shed->levels.front().drop_bytes.has_value());
  CHECK_FALSE(shed->mark_bytes);
  double asked = 0;
  for (const QueuePlan& queue : plan.groups.front().queues) {
    asked += queue.share_percent;
    CHECK((queue.name == shed->name || !queue.levels.front().drop_bytes));
  }
  CHECK(asked == Approx(50).margin(2));
}

TEST_CASE("Queues that are lossless by default are used only if the site gives them up") {
  auto text = leaf_intent("junos", "tomahawk4", "23.4");
  text.replace(text.find("Ethernet[0-3]"), 13, "et-0/0/[0-3]");
  const auto uses_4 = [&text] {
    const auto plan = plan_of(text);
    const auto& queues = plan.groups.front().queues;
    return std::ranges::any_of(queues, [](const QueuePlan& one) { return one.queue == 4; });
  };
  CHECK_FALSE(uses_4());
  const auto named = dlcp::test::plan("dlcp:\n  queues: {exact: 4}\n" + text);
  CHECK_THAT(named.problems.front().expected,
             Contains("default configuration makes this one lossless"));
  text.replace(text.find("may_take_queues: [7]"), 20, "may_take_queues: [4, 7]");
  CHECK(uses_4());
}

TEST_CASE("If fewer queues are free, parts are joined") {
  const char* const used[] = {"24-31: 3, EF: 5, CS6: 6", "24-31: 3, EF: 5, CS6: 6, 1: 1",
                              "24-31: 3, EF: 5, CS6: 6, 1: 1, 2: 2"};
  for (std::size_t free = 4; free >= 2; --free) {
    const auto plan = plan_of(leaf_intent("sonic", "tomahawk4", "202311", "", used[4 - free]));
    CHECK(plan.groups.front().queues.size() == free);
    CHECK(says(plan.merges, "share") == (free < 4));
    check_invariants(plan);
  }
}

TEST_CASE(
    "The control-plane queue belongs to the switch, unless the site gives it up for control") {
  auto text = leaf_intent();
  CHECK(queue_named(plan_of(text), "control")->queue == 7);
  text.replace(text.find("  may_take_queues: [7]\n"), 23, "");
  const auto plan = plan_of(text);
  for (const QueuePlan& queue : plan.groups.front().queues)
    CHECK(queue.queue != 7);
  CHECK(says(plan.merges, "share a queue"));
  // Even if it is given up, it must not be used for a queue that drops early.
  const auto only = dlcp::test::plan(
      leaf_intent("sonic", "tomahawk4", "202311", "", "24-31: 3, EF: 5, CS6: 6, 1: 1, 2: 2, 4: 4"));
  CHECK_FALSE(only.value);
  CHECK_THAT(only.problems.front().hint, Contains("may_take_queues: [1, 2, 4, 5]"));
}

TEST_CASE(
    "Queues that the site gives up are free, except those with PFC and that of the default class") {
  auto text =
      leaf_intent("sonic", "tomahawk4", "202311", "", "24-31: 3, EF: 5, CS6: 6, 1: 1, 2: 2, 4: 4");
  const auto given = [&](const std::string& queues) {
    auto with = text;
    with.replace(with.find("[7]"), 3, queues);
    return dlcp::test::plan(with);
  };
  const auto plan = given("[1, 2, 4]");
  REQUIRE(plan.value);
  CHECK(plan.value->groups.front().queues.size() == 3);
  CHECK_FALSE(given("[3]").value);
  CHECK_FALSE(given("[0]").value);
}

TEST_CASE("Speeds come from the switch, and a speed that contradicts the intent is an error") {
  auto intent = dlcp::test::read(leaf_intent());
  REQUIRE(intent.value);
  SwitchIntent device = intent.value->switches.front();
  SiteConfig site = *device.site;
  site.imported = true;
  site.source = "leaf1.json";
  for (const char* port : {"Ethernet0", "Ethernet1", "Ethernet2", "Ethernet3"})
    site.port_facts.push_back({port, 400'000'000'000, "", false, 0, 0, {}});
  const auto planned = [&] {
    device.site = std::make_shared<const SiteConfig>(site);
    return plan_switch(*intent.value, device);
  };
  REQUIRE(planned().value);
  site.port_facts[3].bits_per_second = 10'000'000'000;
  const auto split = planned();
  REQUIRE(split.value);
  REQUIRE(split.value->groups.size() == 2);
  CHECK(split.value->groups[1].group.ports == std::vector<std::string>{"Ethernet3"});
  device.port_groups.front().speed_stated = true;
  const auto wrong = planned();
  REQUIRE_FALSE(wrong.value);
  CHECK_THAT(wrong.problems.front().what, Contains("400 Gb/s"));
  CHECK_THAT(wrong.problems.front().what, Contains("leaf1.json says 10 Gb/s"));
  site.port_facts.clear();
  site.asic = "spectrum4";
  site.hardware = "ACS-SN5600";
  device.port_groups.front().speed_stated = false;
  CHECK_THAT(planned().problems.front().what, Contains("ACS-SN5600, which has spectrum4"));
}

TEST_CASE("Levels that the buffer cannot hold are merged, lowest first, and reported") {
  const auto roomy = plan_of(three_levels(leaf_intent("eos", "tomahawk5", "4.30.2F")));
  CHECK(queue_named(roomy, "bulk")->levels.size() == 3);
  const auto tight = plan_of(three_levels(
      leaf_intent("eos", "trident3", "4.30.2F", "    buffer: {lossy_pool: 20MB, alpha: 1/4}\n")));
  CHECK(queue_named(tight, "bulk")->levels.size() == 2);
  CHECK(says(tight.merges, "the buffer limits a queue to 1 MB"));
  const auto shallow = plan_of(
      leaf_intent("eos", "trident3", "4.30.2F", "    buffer: {lossy_pool: 4MB, alpha: 1/4}\n"));
  CHECK(queue_named(shallow, "bulk")->levels.size() == 1);
  CHECK_FALSE(queue_named(shallow, "bulk")->levels.front().drop_bytes);
  CHECK(says(shallow.merges, "no packet is dropped early"));
  check_invariants(tight);
  check_invariants(shallow);
}

TEST_CASE("Alpha is no larger than the levels need") {
  CHECK(plan_of(leaf_intent("sonic", "tomahawk4", "202311", "    buffer: {lossy_pool: 100MB}\n"))
            .groups.front()
            .queues.front()
            .alpha_exponent == -3);
  CHECK(plan_of(leaf_intent("sonic", "tomahawk4", "202311", "    buffer: {lossy_pool: 30MB}\n"))
            .groups.front()
            .queues.front()
            .alpha_exponent == -1);
  CHECK(plan_of(leaf_intent("sonic", "tomahawk4", "202311", "    buffer: {alpha: 4}\n"))
            .groups.front()
            .queues.front()
            .alpha_exponent == 2);
}

TEST_CASE(
    "Weights give DLCP the requested share next to the site, and percentages stay within 100") {
  const auto sonic = plan_of(leaf_intent());
  CHECK(queue_named(sonic, "urgent")->share_percent == Approx(20).margin(1));
  CHECK(queue_named(sonic, "bulk")->share_percent == Approx(10).margin(1));
  const auto cumulus = plan_of(leaf_intent("cumulus", "spectrum4", "5.14"));
  unsigned sum = 20 + 40 + 10;
  for (const QueuePlan& queue : cumulus.groups.front().queues)
    sum += queue.weight;
  CHECK(sum <= 100);
  CHECK(says(cumulus.merges, "the site's queues hold 70% of 100"));
}

TEST_CASE("Rows of an earlier run cause no collision, and their queues are free") {
  auto intent = dlcp::test::read(leaf_intent());
  REQUIRE(intent.value);
  SwitchIntent device = intent.value->switches.front();
  const auto first = plan_switch(*intent.value, device);
  REQUIRE(first.value);
  SiteConfig applied = *device.site;
  for (int dscp = 0; dscp < kDscpCount; ++dscp) {
    const DscpRow& row = first.value->dscp[dscp];
    if (row.owner != Owner::kDlcp) continue;
    applied.dscp_to_class[dscp] = row.traffic_class;
    applied.dlcp_dscps |= std::uint64_t{1} << dscp;
    applied.dlcp_queues |= static_cast<std::uint8_t>(1U << row.queue);
    applied.queues[row.queue].in_use = true;
  }
  device.site = std::make_shared<const SiteConfig>(applied);
  const auto second = plan_switch(*intent.value, device);
  REQUIRE(second.value);
  for (int dscp = 0; dscp < kDscpCount; ++dscp) {
    CHECK(second.value->dscp[dscp].queue == first.value->dscp[dscp].queue);
    CHECK(second.value->dscp[dscp].traffic_class == first.value->dscp[dscp].traffic_class);
  }
}

TEST_CASE("A DSCP of a lossless class is refused even if the site gives it up") {
  auto intent = dlcp::test::read(leaf_intent("sonic", "tomahawk4", "202311", "", "CS5: 3"));
  REQUIRE(intent.value);
  SwitchIntent device = intent.value->switches.front();
  SiteConfig site = *device.site;
  site.permitted_dscps = ~std::uint64_t{0};
  device.site = std::make_shared<const SiteConfig>(site);
  const auto plan = plan_switch(*intent.value, device);
  CHECK_FALSE(plan.value);
  REQUIRE(plan.problems.size() == 1);
  CHECK_THAT(plan.problems[0].what, Contains("DSCP 40"));
}

TEST_CASE("A fixed queue is used, and the other parts get other queues") {
  auto text = leaf_intent();
  text.insert(text.find("site:"), "dlcp:\n  queues: {bulk: 1, control: 7}\n");
  const auto plan = plan_of(text);
  CHECK(queue_named(plan, "bulk")->queue == 1);
  CHECK(queue_named(plan, "control")->queue == 7);
  check_invariants(plan);
  // Otherwise control uses one of the free queues, and two parts share a queue.
  text.replace(text.find("control: 7"), 10, "control: 4");
  const auto fewer = plan_of(text);
  CHECK(queue_named(fewer, "control")->queue == 4);
  for (const auto& row : fewer.classes)
    CHECK(fewer.dscp[row.dscp].owner == Owner::kDlcp);
}

TEST_CASE("Classes that overrides move to another queue get that queue and its share") {
  auto intent = dlcp::test::read(leaf_intent());
  REQUIRE(intent.value);
  for (auto& row : intent.value->dlcp.classes)
    if (row.queue == dlcp::SwitchQueue::kUrgent) row.queue = dlcp::SwitchQueue::kBulk;
  const auto plan = plan_switch(*intent.value, intent.value->switches.front());
  REQUIRE(plan.value);
  CHECK(plan.value->groups.front().queues.size() == 3);
  CHECK(queue_named(*plan.value, "bulk")->share_percent == Approx(30).margin(1));
  check_invariants(*plan.value);
}
