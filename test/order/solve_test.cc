// Orders: optimal where all can be tried, at the bound where there is one, and unchanged where no
// order is better.
#include "order/solve/solve.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "catch.h"
#include "fabric/order_file.h"
#include "order/measure/simulated_network.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::order;

namespace {

fabric::Fabric truth(std::string_view text) {
  const auto spec = parse_simulation(text);
  REQUIRE(spec.ok());
  return SimulatedNetwork(spec.value()).truth();
}

bool is_permutation_of_all(std::vector<int> order, std::size_t n) {
  std::ranges::sort(order);
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

const Comparison& find(const Solution& solution, std::string_view name) {
  const auto found = std::ranges::find(solution.comparisons, name, &Comparison::name);
  REQUIRE(found != solution.comparisons.end());
  return *found;
}

}  // namespace

TEST_CASE("a shuffled leaf-spine network is put in order, at the ring's bound") {
  for (const char* shape : {"hosts=16,leaves=4", "hosts=512,leaves=32",
                            "hosts=512,leaves=32,pods=4", "hosts=100,leaves=7,uneven=1"}) {
    INFO(shape);
    const auto fabric = truth(std::string(shape) + ",oversubscription=4,seed=3");
    const Solution solution = solve(fabric, fabric::given_order(fabric));
    CHECK(is_permutation_of_all(solution.order, fabric.size()));
    CHECK_FALSE(solution.kept);
    CHECK(solution.crossings_after == static_cast<int>(fabric::leaves(fabric).size()));
    const Comparison& ring = find(solution, "ring");
    CHECK(ring.after.seconds == Approx(ring.bound_seconds));
    CHECK(solution.gain > 2);
    CHECK(find(solution, "tree").gain() > 1.5);
    CHECK(find(solution, "alltoall").gain() == 1);
  }
}

TEST_CASE(
    "16 hosts on 4 leaves at 4:1 gain a factor of four over a ring that crosses leaves at every "
    "hop") {
  auto fabric = truth("hosts=16,leaves=4,oversubscription=4,shuffled=0");
  std::vector<int> given;
  for (int i = 0; i < 16; ++i)
    given.push_back(i % 4 * 4 + i / 4);
  const Solution solution = solve(fabric, given);
  CHECK(solution.crossings_before == 16);
  CHECK(solution.crossings_after == 4);
  CHECK(solution.gain == Approx(4));
}

TEST_CASE("a flat network keeps the given order") {
  for (const int hosts : {1, 2, 3, 16, 512}) {
    auto fabric = truth("hosts=" + std::to_string(hosts));
    std::vector<int> given = fabric::given_order(fabric);
    std::rotate(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(given.size() / 3),
                given.end());
    const Solution solution = solve(fabric, given);
    CHECK(solution.kept);
    CHECK(solution.order == given);
    CHECK(solution.gain == 1);
  }
}

TEST_CASE("an order that gains less than a tenth is not used") {
  // Two leaves without oversubscription: only latency could gain, and it is nearly the same.
  auto fabric = truth("hosts=8,leaves=2,seed=4");
  fabric.groups[0].round_trip_us = 10.5;
  const Solution solution = solve(fabric, fabric::given_order(fabric));
  CHECK(solution.kept);
  CHECK(solution.order == fabric::given_order(fabric));
}

TEST_CASE("without capacities an order follows the distances and predicts no gain in bandwidth") {
  auto fabric = truth("hosts=64,leaves=4,seed=2");
  for (auto& host : fabric.hosts)
    host.gb_per_s = 0;
  for (auto& group : fabric.groups)
    group.uplink_gb_per_s = 0;
  const Solution solution = solve(fabric, fabric::given_order(fabric));
  CHECK_FALSE(solution.kept);
  CHECK(solution.crossings_after == 4);
  CHECK(solution.gain == 1);
  CHECK(find(solution, "ring").latency_gain() > 1.5);
}

TEST_CASE("no order of eight hosts is better than the result") {
  for (int seed = 1; seed <= 4; ++seed) {
    const auto fabric =
        truth("hosts=8,leaves=3,oversubscription=3,slow_hosts=1,seed=" + std::to_string(seed));
    const Solution solution = solve(fabric, fabric::given_order(fabric));
    const Pattern pattern = ring(8);
    std::vector<int> order = fabric::given_order(fabric);
    double least = 1e9;
    do {
      least = std::min(least, cost_of(fabric, order, pattern).seconds);
    } while (std::next_permutation(order.begin() + 1, order.end()));
    CHECK(find(solution, "ring").after.seconds == Approx(least));
    CHECK(find(solution, "ring").bound_seconds <= least * (1 + 1e-9));
  }
}

TEST_CASE("unreachable hosts come last, and the host of rank 0 stays first") {
  auto fabric = truth("hosts=16,leaves=4,oversubscription=4,seed=9");
  fabric.hosts[5].silent = fabric.hosts[6].silent = true;
  std::vector<int> given = fabric::given_order(fabric);
  std::swap(given[0], given[7]);
  const Solution solution = solve(fabric, given);
  CHECK(solution.order.front() == 7);
  CHECK(solution.order[14] == 5);
  CHECK(solution.order[15] == 6);
  CHECK(is_permutation_of_all(solution.order, 16));
}

TEST_CASE("the cost of a mesh includes all its groups, not one ring through all ranks") {
  // Leaves of 8, and data-parallel groups of 8 whose ranks are not adjacent: the plain order would
  // split each group; the mesh's order keeps each on a leaf.
  const auto fabric = truth("hosts=64,leaves=8,oversubscription=8,seed=6");
  const auto mesh = parse_mesh("dp=8,pp=8", 64);
  REQUIRE(mesh.ok());
  SolveOptions options;
  options.mesh = mesh.value();
  const Solution meshed = solve(fabric, fabric::given_order(fabric), options);
  const Solution plain = solve(fabric, fabric::given_order(fabric));
  const Pattern pattern = mesh_pattern(mesh.value());
  const double own = cost_of(fabric, meshed.order, pattern).seconds;
  CHECK(own < 0.8 * cost_of(fabric, plain.order, pattern).seconds);
  CHECK(meshed.comparisons.front().name == "mesh");
  CHECK(meshed.comparisons.front().bound_seconds <= own * (1 + 1e-9));
  CHECK(meshed.gain > 2);
}

TEST_CASE("the search by exchanges improves orders that no axis fits") {
  const auto fabric = truth("hosts=24,leaves=4,oversubscription=4,seed=8");
  const auto mesh = parse_mesh("dp=4,pp=3,cp=2", 24);
  REQUIRE(mesh.ok());
  SolveOptions options;
  options.mesh = mesh.value();
  const Pattern pattern = mesh_pattern(mesh.value());
  const double found =
      cost_of(fabric, solve(fabric, fabric::given_order(fabric), options).order, pattern).seconds;
  Rng random(1);
  std::vector<int> order = fabric::given_order(fabric);
  for (int i = 0; i < 2000; ++i) {
    for (std::size_t j = order.size(); j > 1; --j)
      std::swap(order[j - 1], order[random.below(j)]);
    CHECK(found <= cost_of(fabric, order, pattern).seconds * (1 + 1e-9));
  }
}

TEST_CASE("trees are NCCL's: every rank but the root has a parent, and depths are logarithmic") {
  for (const int n : {1, 2, 3, 6, 16, 100, 512}) {
    for (int rank = 1; rank < n; ++rank) {
      int depth = 0;
      for (int r = rank; r != 0; r = tree_parent(r, n)) {
        REQUIRE(tree_parent(r, n) < n);
        REQUIRE(++depth <= 11);
      }
    }
    CHECK(double_tree(n).rounds[0].size() == static_cast<std::size_t>(4 * (n - 1)));
  }
  CHECK(tree_parent(1, 8) == 2);
  CHECK(tree_parent(4, 8) == 0);
}

TEST_CASE("in the double tree contiguous, aligned leaves have the fewest cross-leaf edges") {
  // 512 hosts in leaves of 16: 94 cross-leaf edges when aligned (see NCCL's trees).
  const auto fabric = truth("hosts=512,leaves=32,oversubscription=16,shuffled=0");
  const Pattern trees = double_tree(512);
  const auto crossing = [&](const std::vector<int>& order) {
    int count = 0;
    for (const Message& m : trees.rounds[0])
      count += fabric.group_of[static_cast<std::size_t>(order[static_cast<std::size_t>(m.from)])] !=
               fabric.group_of[static_cast<std::size_t>(order[static_cast<std::size_t>(m.to)])];
    return count / 2;
  };
  const auto aligned = fabric::given_order(fabric);
  auto shifted = aligned;
  std::rotate(shifted.begin(), shifted.begin() + 8, shifted.end());
  CHECK(crossing(aligned) == 94);
  CHECK(crossing(shifted) > crossing(aligned));
  CHECK(crossing(solve(fabric, shifted).order) <= 94);
}

TEST_CASE("a mesh of another size is refused with a message") {
  const auto complaint = [](const char* text) {
    const auto mesh = parse_mesh(text, 64);
    REQUIRE_FALSE(mesh.ok());
    return mesh.error().message();
  };
  CHECK_THAT(complaint("pp=4,dp=8"), Contains("make 32 nodes, but there are 64"));
  CHECK_THAT(complaint("pp"), Contains("'pp' is not an axis"));
  CHECK_THAT(complaint("pp=x"), Contains("no size"));
  CHECK_THAT(complaint("pp=8,pp=8"), Contains("two axes"));
  CHECK_THAT(complaint("pp=8:-1,dp=8"), Contains("no weight"));
  CHECK_THAT(complaint(""), Contains("no axes"));
}
