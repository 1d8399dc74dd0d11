// The tuner's changes to NCCL's cost table, at their boundaries.
#include "nccl/tuner/tuner.h"

#include <algorithm>
#include <array>
#include <vector>

#include "catch.h"

namespace {

using namespace dlcp::nccl;
using tuner::steer;
using tuner::Steering;

constexpr Steering kSteering{.ranks = 4, .bytes_min = 64 << 10, .margin = 0.1};
constexpr std::size_t kProtocols = 3;
constexpr std::size_t kRingSimple = 1 * kProtocols + 2;
constexpr std::size_t kEnough = std::size_t{4 * 2 * 2} * (64 << 10);

// Tree LL, LL128, Simple; Ring LL, LL128, Simple; five more algorithms that are not allowed.
std::vector<float> costs(float ring_simple, float best) {
  std::vector<float> table(7 * kProtocols, kNotAllowed);
  table[0] = best * 3;
  table[1] = best;
  table[3] = best * 2;
  table[kRingSimple] = ring_simple;
  return table;
}

bool steered(const Steering& steering, Function function, std::size_t bytes,
             std::vector<float> table) {
  const std::vector<float> before = table;
  const bool did = steer(steering, function, bytes, table, kProtocols);
  for (std::size_t i = 0; i < table.size(); ++i)
    REQUIRE(table[i] == (did && i == kRingSimple ? 0.0F : before[i]));
  return did;
}

}  // namespace

TEST_CASE("Ring/Simple is chosen if it costs at most the margin more than the best") {
  CHECK(steered(kSteering, Function::kAllReduce, kEnough, costs(100, 100)));
  CHECK(steered(kSteering, Function::kReduceScatter, kEnough, costs(109.9F, 100)));
  CHECK_FALSE(steered(kSteering, Function::kAllReduce, kEnough, costs(110.1F, 100)));
  CHECK(steered(kSteering, Function::kAllReduce, kEnough, costs(50, 100)));
}

TEST_CASE("combinations that NCCL does not allow stay disallowed") {
  CHECK_FALSE(steered(kSteering, Function::kAllReduce, kEnough, costs(kNotAllowed, 100)));
}

TEST_CASE("other functions, and messages too short for a licence, are not changed") {
  CHECK_FALSE(steered(kSteering, Function::kAllGather, kEnough, costs(100, 100)));
  CHECK_FALSE(steered(kSteering, Function::kBroadcast, kEnough, costs(100, 100)));
  CHECK_FALSE(steered(kSteering, Function::kOther, kEnough, costs(100, 100)));
  CHECK_FALSE(steered(kSteering, Function::kAllReduce, kEnough - 16, costs(100, 100)));
  Steering one = kSteering;
  one.ranks = 1;
  CHECK_FALSE(steered(one, Function::kAllReduce, kEnough, costs(100, 100)));
}

TEST_CASE("tables smaller than expected are not changed") {
  std::vector<float> table(4, 100);
  CHECK_FALSE(steer(kSteering, Function::kAllReduce, kEnough, table, 2));
  CHECK_FALSE(steer(kSteering, Function::kAllReduce, kEnough, table, 3));
  CHECK_FALSE(steer(kSteering, Function::kAllReduce, kEnough, {}, 3));
  CHECK(table == std::vector<float>(4, 100));
}

TEST_CASE("a message is at most 1 MiB") {
  CHECK(tuner::ring_message_bytes(std::size_t{1} << 40, 4) == 1 << 20);
  CHECK(tuner::ring_message_bytes(16 << 20, 8) == 512 << 10);
}

TEST_CASE(
    "direct exchange costs two steps, an amount per rank, and the slowest device's transfer") {
  const DirectTerms terms{.ranks = 8, .speed_mbps = 100'000};
  CHECK(tuner::direct_us(terms, 0) == Approx(2 * 14 + 7 * 4));
  CHECK(tuner::direct_us(terms, 1 << 20) == Approx(56 + 1.75 * (1 << 20) / (12'500 * 0.6)));
  CHECK(tuner::direct_us({.ranks = 8, .speed_mbps = 10'000}, 1 << 20) >
        tuner::direct_us(terms, 1 << 20));
}

TEST_CASE("CollNet's costs are corrected if NCCL allows CollNet, and nothing else is changed") {
  constexpr std::size_t kDirect = 2 * kProtocols + 2, kChain = 3 * kProtocols + 2;
  const DirectTerms terms{.ranks = 8, .speed_mbps = 100'000};
  auto table = costs(100, 90);
  const auto untouched = table;
  tuner::correct_collnet(terms, 1 << 20, table, kProtocols);
  CHECK(table == untouched);  // neither is allowed
  table[kChain] = 5;
  tuner::correct_collnet(terms, 1 << 20, table, kProtocols);
  CHECK(table[kChain] == Approx(tuner::direct_us(terms, 1 << 20)));
  CHECK(table[kDirect] == kNotAllowed);
  table[kChain] = untouched[kChain];
  CHECK(table == untouched);
}

TEST_CASE("between two ranks direct exchange gains nothing, unless it is requested") {
  constexpr std::size_t kChain = 3 * kProtocols + 2;
  auto table = costs(100, 90);
  table[kChain] = 5;
  tuner::correct_collnet({.ranks = 2, .speed_mbps = 100'000}, 1 << 20, table, kProtocols);
  CHECK(table[kChain] == kNotAllowed);
  table[kChain] = 5;
  tuner::correct_collnet({.ranks = 2, .speed_mbps = 100'000, .always = true}, 1 << 20, table,
                         kProtocols);
  CHECK(table[kChain] == 0);
}

TEST_CASE("CollNet stays allowed between two ranks if the user has excluded everything else") {
  constexpr std::size_t kChain = 3 * kProtocols + 2;
  const DirectTerms two{.ranks = 2, .speed_mbps = 100'000};
  std::vector<float> table(7 * kProtocols, kNotAllowed);
  table[kChain] = 5;  // NCCL_ALGO=CollnetChain
  tuner::correct_collnet(two, 1 << 20, table, kProtocols);
  CHECK(table[kChain] == Approx(tuner::direct_us(two, 1 << 20)));
}

TEST_CASE("of NCCL's CollNet algorithms one is left, the chain if it is allowed") {
  constexpr std::size_t kDirect = 2 * kProtocols + 2, kChain = 3 * kProtocols + 2,
                        kNvls = 4 * kProtocols + 2, kNvlsTree = 5 * kProtocols + 2;
  const auto corrected = [&](bool always, bool has_chain, bool has_direct, std::uint32_t ranks) {
    auto table = costs(100, 90);
    if (has_chain) table[kChain] = 5;
    if (has_direct) table[kDirect] = 5;
    table[kNvls] = 5;
    table[kNvlsTree] = 7;
    tuner::correct_collnet({.ranks = ranks, .speed_mbps = 100'000, .always = always}, 1 << 20,
                           table, kProtocols);
    CHECK(table[kNvlsTree] == 7);
    return std::array{table[kChain], table[kDirect], table[kNvls]};
  };
  const auto cost =
      static_cast<float>(tuner::direct_us({.ranks = 8, .speed_mbps = 100'000}, 1 << 20));
  constexpr float kNo = kNotAllowed;
  CHECK(corrected(false, true, true, 8) == std::array{cost, kNo, kNo});
  CHECK(corrected(true, true, true, 8) == std::array{0.0F, kNo, kNo});
  CHECK(corrected(false, false, true, 8) == std::array{kNo, cost, kNo});
  CHECK(corrected(false, false, false, 8) == std::array{kNo, kNo, cost});
  CHECK(corrected(false, true, true, 2) == std::array{kNo, kNo, kNo});
  CHECK(corrected(false, false, false, 1) == std::array{kNo, kNo, 5.0F});  // within one host
}

TEST_CASE("with hubs each rank sends a tensor once; fewer hubs than ranks have less bandwidth") {
  const DirectTerms eight{.ranks = 8, .speed_mbps = 100'000, .hubs = 8};
  CHECK(tuner::direct_us(eight, 1 << 20) == Approx(56 + (1 << 20) / (12'500 * 0.6)));
  const DirectTerms two{.ranks = 8, .speed_mbps = 100'000, .hubs = 2};
  CHECK(tuner::direct_us(two, 1 << 20) == Approx(56 + 4.0 * (1 << 20) / (12'500 * 0.6)));
}

TEST_CASE("a licence saves a ring's retransmissions, which favours direct exchange") {
  DirectTerms terms{.ranks = 16, .speed_mbps = 100'000};
  CHECK(tuner::repairs_saved_us(terms, 1 << 20) == 0);
  terms.loss_ppm = 10'000;
  // At 1% loss 0.16 of a step's 16 packets are lost, and more than one of the sums' 256.
  CHECK(tuner::repairs_saved_us(terms, 1 << 20) == Approx(300 * (30 * 0.16 - 1)));
  constexpr std::size_t kChain = 3 * kProtocols + 2;
  auto table = costs(100, 90);
  table[kChain] = 5;
  tuner::correct_collnet(terms, 1 << 20, table, kProtocols);
  CHECK(table[kChain] ==
        Approx(std::max(tuner::direct_us(terms, 1 << 20) - tuner::repairs_saved_us(terms, 1 << 20),
                        14.0)));
}

TEST_CASE("chunks grow until each owner has a block per call, and never shrink") {
  const DirectTerms eight{.ranks = 8};
  CHECK(tuner::chunk_bytes(eight, 1 << 20, 2, 128 << 10) == 128 << 10);
  CHECK(tuner::chunk_bytes(eight, 1 << 20, 2, 32 << 10) == 64 << 10);
  CHECK(tuner::chunk_bytes(eight, 100, 2, 32 << 10) == 32 << 10);
  const DirectTerms many{.ranks = 64};
  CHECK(tuner::chunk_bytes(many, 16 << 20, 2, 256 << 10) == 512 << 10);
  CHECK(tuner::chunk_bytes(many, 600'001, 2, 64 << 10) == 303'104);
  CHECK(tuner::chunk_bytes(many, std::size_t{1} << 40, 1, 32 << 10) == 512 << 10);
}

TEST_CASE("a child that shares its parent's connections does not change the parent's terms") {
  constexpr std::uint64_t kParent = 7;
  auto& groups = DirectGroups::of_process();
  groups.add(kParent, {.ranks = 4, .speed_mbps = 10'000});
  groups.add(kParent, {.ranks = 2, .speed_mbps = 100'000});  // the child, in one half of the ranks
  CHECK(groups.find(kParent)->ranks == 4);
  CHECK(groups.find(kParent)->speed_mbps == 10'000);
  groups.remove(kParent);
  groups.remove(kParent);
  CHECK_FALSE(groups.find(kParent));
}
