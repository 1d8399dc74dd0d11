// The conclusions from a load test about hosts and uplinks.
#include "order/measure/capacity.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "catch.h"
#include "order/measure/simulated_network.h"

using namespace dlcp;
using namespace dlcp::order;

namespace {

SimulatedNetwork network_of(std::string_view text) {
  const auto spec = parse_simulation(text);
  REQUIRE(spec.ok());
  return SimulatedNetwork(spec.value());
}

// The true tree without the rates, which the load test must find.
fabric::Fabric loaded(const SimulatedNetwork& network) {
  fabric::Fabric fabric = network.truth();
  for (auto& host : fabric.hosts)
    host.gb_per_s = 0, host.slow = false;
  for (auto& group : fabric.groups)
    group.uplink_gb_per_s = 0, group.slow = false;
  std::vector<LoadResult> results;
  for (const LoadPhase& phase : plan_load(fabric))
    results.push_back({phase, network.load(phase.transfers)});
  apply_load(fabric, results);
  return fabric;
}

}  // namespace

TEST_CASE(
    "in each phase a host sends to one host and receives from one, across the groups under load") {
  const auto network = network_of("hosts=100,leaves=7,pods=2,uneven=1,seed=5");
  const auto phases = plan_load(network.truth());
  REQUIRE(phases.size() == 3);
  for (const LoadPhase& phase : phases) {
    std::set<int> from, to;
    for (const Transfer& transfer : phase.transfers) {
      CHECK(from.insert(transfer.from).second);
      CHECK(to.insert(transfer.to).second);
      const int common = fabric::common_group(network.truth(), transfer.from, transfer.to);
      CHECK(fabric::depth_of(network.truth(), common) == phase.depth - 1);
    }
  }
}

TEST_CASE("rates of hosts and oversubscribed uplinks are found") {
  const auto network = network_of("hosts=64,leaves=4,oversubscription=4,gb_per_s=25,seed=2");
  const auto fabric = loaded(network);
  for (const auto& host : fabric.hosts) {
    CHECK(host.gb_per_s == Approx(25));
    CHECK_FALSE(host.slow);
  }
  for (std::size_t g = 1; g < fabric.groups.size(); ++g)
    CHECK(fabric.groups[g].uplink_gb_per_s == Approx(100));
}

TEST_CASE("slow hosts and slow leaves are named, and no others") {
  const auto network =
      network_of("hosts=64,leaves=8,oversubscription=2,slow_hosts=2,slow_leaves=1,seed=3");
  const auto fabric = loaded(network);
  for (std::size_t i = 0; i < fabric.hosts.size(); ++i)
    CHECK(fabric.hosts[i].slow == (i < 2));
  for (std::size_t g = 1; g < fabric.groups.size(); ++g)
    CHECK(fabric.groups[g].slow == (g == 1));
}

TEST_CASE("a leaf that has more hosts than the others together is not slow for lack of partners") {
  fabric::Fabric fabric;
  fabric.groups = {{"fabric", -1, 0, 0, false}, {"a", 0, 0, 0, false}, {"b", 0, 0, 0, false}};
  for (int host = 0; host < 16; ++host) {
    fabric.hosts.push_back({"host" + std::to_string(host), {}, 0, 1, false, false});
    fabric.group_of.push_back(host < 12 ? 1 : 2);
  }
  std::vector<LoadResult> results;
  for (const LoadPhase& phase : plan_load(fabric))
    results.push_back({phase, std::vector<double>(phase.transfers.size(), 100)});
  apply_load(fabric, results);
  CHECK(fabric.groups[1].uplink_gb_per_s == Approx(1200));
  CHECK(fabric.groups[2].uplink_gb_per_s == Approx(400));
  CHECK_FALSE(fabric.groups[1].slow);
  CHECK_FALSE(fabric.groups[2].slow);
}

TEST_CASE("a second oversubscribed tier is found") {
  const auto network =
      network_of("hosts=128,leaves=16,pods=4,oversubscription=2,pod_oversubscription=2,seed=3");
  const auto fabric = loaded(network);
  for (std::size_t g = 1; g < fabric.groups.size(); ++g)
    CHECK(fabric.groups[g].uplink_gb_per_s ==
          Approx(network.truth().groups[g].uplink_gb_per_s).epsilon(0.01));
}

TEST_CASE("hosts that received nothing get no rate") {
  auto fabric = network_of("hosts=8,leaves=2").truth();
  for (auto& host : fabric.hosts)
    host.gb_per_s = 0;
  for (auto& group : fabric.groups)
    group.uplink_gb_per_s = 0;
  std::vector<LoadResult> results;
  for (const LoadPhase& phase : plan_load(fabric))
    results.push_back({phase, std::vector<double>(phase.transfers.size(), std::nan(""))});
  apply_load(fabric, results);
  for (const auto& host : fabric.hosts)
    CHECK(host.gb_per_s == 0);
  CHECK(fabric.groups[1].uplink_gb_per_s == 0);
}
