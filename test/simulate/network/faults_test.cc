// Temporary faults: a link that flaps or is slow for a while, a host that sends pause frames.
#include "catch.h"
#include "simulate/contest.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {
namespace {

constexpr std::uint64_t kBytes = 4'000'000;  // 325 us at 100 Gbit/s

// Two leaves with a host each; the first uplink of the first leaf has the fault.
Setting pair_of_leaves(Contender contender, std::size_t spines, double uplink_gbit) {
  Wire uplink;
  uplink.gbit_per_s = uplink_gbit;
  Setting setting;
  setting.fabric = leaf_spine(2, 1, spines, Wire{}, uplink);
  setting.contender = contender;
  setting.limit = 20ms;
  return setting;
}

CableFault fault_of(double rate, Duration lasts, Duration every = Duration{0}) {
  CableFault fault;
  fault.rate = rate;
  fault.tier = Fabric::Tier::kLeafUp;
  fault.both_ways = true;
  fault.lasts = lasts;
  fault.every = every;
  return fault;
}

Workload one_transfer(std::uint64_t bytes = kBytes) {
  Workload workload(1);
  workload[0].transfer.to = 1;
  workload[0].transfer.bytes = bytes;
  return workload;
}

TEST_CASE("a link that was slow for a while is as fast as before afterwards") {
  Setting setting = pair_of_leaves(Contender::kDctcp, 1, 100);
  const Duration whole = run(setting, one_transfer()).took;
  setting.faults = {fault_of(0.1, 200us)};
  const Duration passing = run(setting, one_transfer()).took;
  setting.faults = {fault_of(0.1, 0us)};
  const Duration lasting = run(setting, one_transfer()).took;
  CHECK(passing > whole + 100us);
  CHECK(passing < whole + 400us);
  CHECK(lasting > 8 * whole);
}

// Packets in flight there are lost. The sender finds the affected path among eight from the
// deliveries of the others: it takes a round trip, and path_set's doubts.
TEST_CASE("a dead uplink that routing has not noticed costs little") {
  Setting setting = pair_of_leaves(Contender::kDlcp, 8, 100);
  const Outcome whole = run(setting, one_transfer());
  setting.faults = {fault_of(0, 0us)};
  setting.faults[0].after = 50us;
  const Outcome dead = run(setting, one_transfer());
  REQUIRE(whole.ended);
  REQUIRE(dead.ended);
  CHECK(dead.transport.packets_again > 0);
  CHECK(dead.took < whole.took + 100us);
  CHECK(dead.transport.again() < 0.1);
}

TEST_CASE("a flapping link is used between its outages") {
  Setting setting = pair_of_leaves(Contender::kDlcp, 1, 100);
  const Outcome whole = run(setting, one_transfer());
  setting.faults = {fault_of(0, 50us, 300us)};
  const Outcome flapping = run(setting, one_transfer());
  REQUIRE(flapping.ended);
  CHECK(flapping.took > whole.took);
  CHECK(flapping.transport.packets_again > 0);
  setting.faults = {fault_of(0, 0us)};
  CHECK_FALSE(run(setting, one_transfer()).ended);
}

TEST_CASE("routing uses a link again after it recovers") {
  Setting setting = pair_of_leaves(Contender::kNscc, 2, 50);
  const Duration whole = run(setting, one_transfer()).took;
  for (const double rate : {0.0, 0.1}) {
    setting.faults = {fault_of(rate, 0us)};
    setting.faults[0].reconverges = 0us;
    const Duration without = run(setting, one_transfer()).took;
    setting.faults[0].lasts = 50us;
    const Duration again = run(setting, one_transfer()).took;
    CHECK(without > 3 * whole / 2);
    CHECK(again < 3 * whole / 2);
  }
}

TEST_CASE(
    "a host that pauses its switch stops others where switches pause each other, and no "
    "others where they drop") {
  Wire uplink;
  uplink.gbit_per_s = 400;
  Workload workload;
  for (const HostIndex to : {0u, 1u}) {
    Step step;
    step.transfer.from = to + 2;
    step.transfer.to = to;
    step.transfer.bytes = 4 * kBytes;
    step.transfer.neighbour = to == 0;
    workload.push_back(step);
  }
  for (const Contender contender : {Contender::kRoce, Contender::kDlcp}) {
    Setting setting;
    setting.fabric = leaf_spine(2, 2, 1, Wire{}, uplink);
    setting.contender = contender;
    setting.limit = 1s;
    const Duration calm = run(setting, workload).took;
    setting.storm = PauseStorm{0, 0us, 5ms};
    const Outcome stormy = run(setting, workload);
    INFO(name_of(contender) << ": " << calm.count() << " ns without, " << stormy.took.count()
                            << " ns with pauses");
    REQUIRE(stormy.ended);
    CHECK(stormy.finishes[0].took() > 5ms);
    if (contender == Contender::kRoce)
      CHECK(stormy.took > 5ms);
    else
      CHECK(stormy.took < 2 * calm);
  }
}

TEST_CASE("a pause of 20 ms at the receiver's port costs at most twice its length in addition") {
  for (const Duration after : {0us, 30us, 300us}) {
    Workload workload;
    for (const HostIndex from : {1u, 2u}) {
      Step step;
      step.transfer.from = from;
      step.transfer.to = 0;
      step.transfer.bytes = 4 * kBytes;
      workload.push_back(step);
    }
    Setting setting;
    setting.fabric = leaf_spine(1, 3, 1, Wire{}, Wire{});
    setting.limit = 1s;
    setting.storm = PauseStorm{0, after, 20ms};
    const Outcome stormy = run(setting, workload);
    REQUIRE(stormy.ended);
    INFO(stormy.took.count() << " ns, paused after " << after.count() << " ns");
    CHECK(stormy.took < 60ms);
  }
}

TEST_CASE("pause frames stop the data of every contender, also with one queue in each port") {
  for (const Contender contender :
       {Contender::kDlcp, Contender::kNscc, Contender::kDctcp, Contender::kPfabric,
        Contender::kPias, Contender::kNdp, Contender::kRoce})
    for (const std::size_t queue_bytes : {std::size_t{0}, std::size_t{1'000'000}}) {
      Setting setting = pair_of_leaves(contender, 1, 100);
      setting.queue_bytes = queue_bytes;
      setting.storm = PauseStorm{1, 0us, 5ms};
      setting.limit = 1s;
      const Outcome stormy = run(setting, one_transfer());
      INFO(name_of(contender) << ", " << queue_bytes << ": " << stormy.took.count() << " ns");
      CHECK(stormy.ended);
      CHECK(stormy.took > 5ms);
    }
}

}  // namespace
}  // namespace dlcp::simulate
