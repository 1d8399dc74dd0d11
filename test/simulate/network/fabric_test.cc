// Fabrics, switches and whole runs on them.
#include "simulate/network/fabric.h"

#include <algorithm>
#include <set>
#include <vector>

#include "catch.h"
#include "simulate/contest.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {
namespace {

const Wire kWire{};

Setting small(Contender contender) {
  Setting setting;
  setting.fabric = leaf_spine(4, 4, 4, kWire, kWire);
  setting.contender = contender;
  setting.limit = 1s;
  return setting;
}

TEST_CASE("a fat tree of radix 16 has 1024 hosts, and a quarter of the uplinks at 4:1") {
  CHECK(fat_tree(16, kWire).hosts() == 1024);
  Events events;
  const Fabric full(events, fat_tree(8, kWire));
  const Fabric thin(events, fat_tree(8, kWire, 4));
  CHECK(full.hosts() == 128);
  CHECK(full.find(Fabric::Tier::kLeafUp, 127) < full.links().size());
  CHECK(full.find(Fabric::Tier::kLeafUp, 128) == full.links().size());
  CHECK(thin.find(Fabric::Tier::kLeafUp, 31) < thin.links().size());
  CHECK(thin.find(Fabric::Tier::kLeafUp, 32) == thin.links().size());
}

TEST_CASE("every transport delivers a permutation, and equal seeds give equal times") {
  for (const Contender contender :
       {Contender::kDlcp, Contender::kNscc, Contender::kDctcp, Contender::kPfabric,
        Contender::kPias, Contender::kNdp, Contender::kRoce}) {
    INFO(name_of(contender));
    const Setting setting = small(contender);
    const Workload workload = permutation(setting.fabric.hosts(), 300'000, 5);
    const Outcome first = run(setting, workload);
    const Outcome second = run(setting, workload);
    REQUIRE(first.ended);
    CHECK(first.transport.bytes == 16 * 300'000);
    CHECK(first.hash == second.hash);
    CHECK(first.events == second.events);
    CHECK(first.took > 300'000 * 8 / 100 * 1ns);
  }
}

TEST_CASE("cards that place data deliver a permutation, with and without loss") {
  for (const double loss : {0.0, 0.01}) {
    Setting setting = small(Contender::kDlcp);
    setting.loss = loss;
    const Workload workload = permutation(setting.fabric.hosts(), 1'000'000, 5);
    const Outcome copied = run(setting, workload);
    setting.hosts.places = true;
    const Outcome placed = run(setting, workload);
    REQUIRE(placed.ended);
    CHECK(placed.transport.bytes == 16 * 1'000'000);
    CHECK(placed.hash == run(setting, workload).hash);
    CHECK(placed.hash != copied.hash);
    CHECK((placed.transport.packets_again > 0) == (loss > 0));
    CHECK(placed.took < 2 * copied.took);
  }
}

TEST_CASE("every transport repairs silent loss") {
  for (const Contender contender :
       {Contender::kDlcp, Contender::kNscc, Contender::kDctcp, Contender::kPfabric,
        Contender::kPias, Contender::kNdp, Contender::kRoce}) {
    INFO(name_of(contender));
    Setting setting = small(contender);
    setting.loss = 0.01;
    const Outcome outcome = run(setting, permutation(setting.fabric.hosts(), 1'000'000, 5));
    REQUIRE(outcome.ended);
    CHECK(outcome.transport.packets_again > 0);
  }
}

TEST_CASE(
    "a dead uplink costs nothing once it is out of the routing, and all packets hashed to it "
    "before") {
  Setting setting = small(Contender::kNscc);
  setting.timeout_min = 1ms;
  const Workload workload = permutation(setting.fabric.hosts(), 1'000'000, 5);
  const Duration whole = run(setting, workload).took;
  CableFault fault;
  fault.tier = Fabric::Tier::kLeafUp;
  fault.rate = 0;
  fault.both_ways = true;
  setting.faults = {fault};
  const Duration dead = run(setting, workload).took;
  setting.faults[0].reconverges = 0ns;
  const Duration withdrawn = run(setting, workload).took;
  CHECK(dead > whole + 1ms);
  CHECK(withdrawn < whole + 1ms);
}

TEST_CASE("a full switch that trims loses no packet, only its payload") {
  Setting setting = small(Contender::kNscc);
  const Outcome outcome = run(setting, incast(16, 15, 1'000'000, 1));
  REQUIRE(outcome.ended);
  CHECK(outcome.queues.trimmed > 0);
  CHECK(outcome.queues.dropped == 0);
  CHECK(outcome.transport.packets_again == outcome.queues.trimmed);
  CHECK(outcome.transport.timeouts == 0);
}

TEST_CASE("a licensed transfer gives up a part, and never more than its share") {
  Setting setting = small(Contender::kDlcp);
  setting.loss = 0.02;
  Workload workload = permutation(setting.fabric.hosts(), 2'000'000, 5);
  CHECK(run(setting, workload).transport.bytes_given_up == 0);
  for (Step& step : workload)
    step.transfer.may_lose = 0.1;
  const Outcome outcome = run(setting, workload);
  REQUIRE(outcome.ended);
  CHECK(outcome.transport.bytes_given_up > 0);
  CHECK(outcome.transport.bytes_given_up <= 16 * 200'000);
}

TEST_CASE(
    "lost parts of licensed gradients have the smallest magnitudes, unless marks ignore "
    "magnitudes") {
  Setting setting = small(Contender::kDlcp);
  Workload workload = incast(16, 15, 1'000'000, 1);
  for (Step& step : workload)
    step.transfer.may_lose = 0.1;
  const auto cost = [&](bool blind) {
    setting.blind_marks = blind;
    const Outcome outcome = run(setting, workload);
    REQUIRE(outcome.transport.bytes_given_up > 0);
    const double share = static_cast<double>(outcome.transport.bytes_given_up) / 15e6;
    return outcome.transport.energy_given_up / outcome.transport.energy / share;
  };
  CHECK(cost(true) > 0.5);
  CHECK(cost(false) < 0.1);
}

TEST_CASE("a transfer that does not fit the phantom memory is refused with its name") {
  CHECK_THROWS_WITH(run(small(Contender::kDlcp), incast(16, 1, std::uint64_t{1} << 27, 1)),
                    Contains("several transfers"));
}

TEST_CASE("neighbours have their own transport and queue, and do not count for the job") {
  Setting setting = small(Contender::kDlcp);
  const Workload alone = incast(16, 3, 300'000, 1);
  std::set<HostIndex> taken{0};
  for (const Step& step : alone)
    taken.insert(step.transfer.from);
  std::vector<HostIndex> others;
  for (HostIndex host = 0; host < 16; ++host)
    if (!taken.contains(host)) others.push_back(host);
  Workload workload = alone;
  for (Step& step : messages(others, 4, 50'000, 0.2, 100, 500us, 1)) {
    CHECK(step.transfer.from / 4 != step.transfer.to / 4);
    step.transfer.neighbour = true;
    workload.push_back(step);
  }
  REQUIRE(workload.size() > 100);
  setting.dctcp_neighbours = true;
  const Outcome outcome = run(setting, workload);
  REQUIRE(outcome.ended);
  CHECK(outcome.transport.bytes == 3 * 300'000);  // the bytes that DLCP has moved
  CHECK(outcome.took < 200us);
  CHECK(outcome.finishes.back().neighbour);
  setting.dctcp_neighbours = false;
  CHECK(run(setting, workload).transport.bytes == 3 * 300'000 + (workload.size() - 3) * 50'000);
}

TEST_CASE("receives are posted ahead of sends, and the k-th message goes into the k-th receive") {
  const Setting setting = small(Contender::kDlcp);
  std::vector<HostIndex> ring(16);
  for (HostIndex i = 0; i < 16; ++i)
    ring[i] = i;
  const Outcome outcome = run(setting, ring_all_reduce(ring, 16 * 100'000));
  REQUIRE(outcome.ended);
  CHECK(outcome.took < 30 * 15us);  // of which 8 us are transmission, and 4 us the path's delay
  // Between two hosts, in another order than announced.
  Workload workload = incast(16, 1, 200'000, 1);
  for (const auto& [bytes, wait] : {std::pair{50'000, 300us}, std::pair{300'000, 100us}}) {
    workload.push_back(workload.front());
    workload.back().transfer.bytes = static_cast<std::uint64_t>(bytes);
    workload.back().wait = wait;
  }
  const Outcome mixed = run(setting, workload);
  REQUIRE(mixed.ended);
  CHECK(mixed.transport.bytes == 550'000);
  CHECK(mixed.finishes[2].delivered < mixed.finishes[1].began);
  CHECK(mixed.finishes[1].delivered > mixed.finishes[1].began);
}

TEST_CASE(
    "switches without classes hold a fixed number of bytes and drop the rest, whichever host "
    "sends") {
  Setting setting = small(Contender::kDctcp);
  setting.timeout_min = 1ms;
  setting.queue_bytes = 30'000;
  const Outcome outcome = run(setting, incast(16, 15, 300'000, 1));
  REQUIRE(outcome.ended);
  CHECK(outcome.queues.deepest_bytes <= 30'000);
  CHECK(outcome.queues.dropped > 0);
  CHECK(outcome.queues.marked == 0);
}

TEST_CASE("transfers in opposite directions, whose ACKs queue behind data, fill both links") {
  Setting setting;
  Wire wire;
  wire.gbit_per_s = 0.2;
  wire.delay = 10us;
  setting.fabric = single_switch(2, wire);
  setting.fabric.card_gbit_per_s = 10;
  setting.paths = 16;
  setting.queue_bytes = 256 << 10;
  setting.loss_to_hosts = 0.001;  // ends slow start
  Workload there(1);
  there[0].transfer = {0, 1, 16 << 20, 0};
  Workload both = there;
  both.push_back({});
  both[1].transfer = {1, 0, 16 << 20, 0};
  Duration alone{0};
  Duration opposed{0};
  for (setting.seed = 1; setting.seed <= 5; ++setting.seed) {
    alone += run(setting, there).took;
    opposed += run(setting, both).took;
  }
  CHECK(opposed < alone * 11 / 10);
}

TEST_CASE("an incast keeps the receiver's link busy, and drops little") {
  constexpr std::size_t kSenders = 128;
  constexpr std::uint64_t kBytes = 100'000;
  Setting setting;
  setting.fabric = single_switch(kSenders + 1, Wire{});
  const Outcome outcome = run(setting, incast(kSenders + 1, kSenders, kBytes, 1));
  REQUIRE(outcome.ended);
  const double ideal = kSenders * kBytes * 8 / setting.fabric.host.gbit_per_s;  // ns
  CHECK(static_cast<double>(outcome.took.count()) < 1.15 * ideal);
  CHECK(outcome.transport.again() < 0.05);
}

// A sender whose competitors have finished must not continue at the incast's rate.
TEST_CASE("the last sender of an incast ends with the others") {
  Setting setting;
  setting.fabric = fat_tree(16, Wire{});
  const Outcome outcome = run(setting, incast(1024, 1023, 100'000, 1));
  REQUIRE(outcome.ended);
  std::vector<Duration> times;
  for (const Finish& finish : outcome.finishes)
    times.push_back(finish.took());
  std::sort(times.begin(), times.end());
  CHECK(times.back() < times[times.size() * 98 / 100] * 103 / 100);
  CHECK(outcome.took < 8900us);
  CHECK(outcome.transport.again() < 0.05);
}

// So that a server can add and answer while other messages still arrive.
TEST_CASE("in an incast of long messages all senders' first messages end before the second ones") {
  constexpr std::size_t kWorkers = 28;
  ParameterServerPlan plan;
  plan.workers = kWorkers;
  plan.tensors = 3;
  plan.bytes = {3'000'000};
  Setting setting;
  setting.fabric = single_switch(kWorkers + 1, Wire{});
  const Workload workload = parameter_servers(plan, 1);
  const Outcome outcome = run(setting, workload);
  REQUIRE(outcome.ended);
  // For each tensor, kWorkers pushes and then as many pulls.
  const auto pushed = [&](std::size_t tensor) {
    Duration last{};
    for (std::size_t i = 0; i < kWorkers; ++i)
      last = std::max(last, outcome.finishes[tensor * 2 * kWorkers + i].took());
    return last;
  };
  CHECK(pushed(0) < pushed(2) * 45 / 100);
}

// A receiver that serves all senders equally keeps colliding senders together: then this takes
// twice as long as the links need.
TEST_CASE("in an all-to-all exchange receivers stay busy") {
  constexpr std::size_t kHosts = 48;
  constexpr std::uint64_t kBytes = 512 << 10;
  Setting setting;
  setting.fabric = single_switch(kHosts, Wire{});
  const Outcome outcome = run(setting, all_to_all(kHosts, kBytes, 4));
  REQUIRE(outcome.ended);
  const double ideal = (kHosts - 1) * kBytes * 8 / setting.fabric.host.gbit_per_s;  // ns
  CHECK(static_cast<double>(outcome.took.count()) < 1.35 * ideal);
}

TEST_CASE("a step begins when all of its inputs have arrived") {
  Workload workload = incast(16, 3, 100'000, 1);
  Step last;
  last.transfer = {0, 5, 1000, 0};
  last.after = {0, 1, 2};
  last.wait = 7us;
  workload.push_back(last);
  const Outcome outcome = run(small(Contender::kNscc), workload);
  REQUIRE(outcome.ended);
  Time latest{};
  for (int i = 0; i < 3; ++i)
    latest = std::max(latest, outcome.finishes[i].delivered);
  CHECK(outcome.finishes[3].began == latest + 7us);
}

}  // namespace
}  // namespace dlcp::simulate
