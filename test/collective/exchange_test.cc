#include "collective/exchange.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "catch.h"
#include "collective/reduce.h"
#include "memory_group.h"

using namespace dlcp;
using namespace dlcp::collective;
using dlcp::test::MemoryGroup;

namespace {

constexpr Terms kTerms{.ranks = 4, .rank = 0, .granule = 128, .block_bytes_max = 1024};

struct Plan {
  std::size_t bytes = 0;
  std::size_t real = 0;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::vector<bool> knows;  // by rank: the real length
};

// Memory of one call on all ranks.
struct Buffers {
  std::vector<std::vector<std::byte>> inputs, results;
};

Buffers buffers_of(const Plan& plan, std::uint32_t ranks, Rng& rng) {
  Buffers made;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    made.inputs.emplace_back(plan.bytes);
    for (auto& byte : made.inputs.back())
      byte = std::byte(rng.below(256));
    made.results.emplace_back(plan.bytes, std::byte{0xa5});
  }
  return made;
}

Call call_of(const Plan& plan, Buffers& buffers, std::uint32_t rank) {
  return {buffers.inputs[rank], buffers.results[rank], plan.knows[rank] ? plan.real : plan.bytes,
          plan.type, plan.op};
}

// What the data must be on every rank: all ranks' inputs reduced in rank order.
std::vector<std::byte> expected_of(const Plan& plan, const Buffers& buffers) {
  std::vector<const std::byte*> inputs;
  for (const auto& input : buffers.inputs)
    inputs.push_back(input.data());
  std::vector<std::byte> out(plan.real);
  reduce(plan.type, plan.op, inputs, plan.real, out.data());
  return out;
}

Plan random_plan(Rng& rng, std::uint32_t ranks) {
  constexpr std::array kTypes{DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16,
                              DataType::kInt8,    DataType::kInt64,    DataType::kFloat64};
  constexpr std::array kOps{ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProd};
  Plan plan;
  plan.type = kTypes[rng.below(kTypes.size())];
  plan.op = kOps[rng.below(kOps.size())];
  const std::size_t element = bytes_of(plan.type);
  plan.bytes = (1 + rng.below(rng.chance(0.3) ? 16 : 12'000)) * element;
  plan.real = rng.chance(0.5) ? plan.bytes : (1 + rng.below(plan.bytes / element)) * element;
  const bool all_know = rng.chance(0.5);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    plan.knows.push_back(all_know || rng.chance(0.5));
  return plan;
}

}  // namespace

TEST_CASE("every rank has the sum in rank order, whatever arrives first") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    Rng rng(seed);
    Terms terms = kTerms;
    terms.ranks = 2 + static_cast<std::uint32_t>(rng.below(7));
    MemoryGroup group(terms, 400'000, seed);
    std::vector<Plan> plans;
    std::vector<Buffers> buffers;
    for (int i = 0; i < 12; ++i) {
      plans.push_back(random_plan(rng, terms.ranks));
      buffers.push_back(buffers_of(plans.back(), terms.ranks, rng));
    }
    std::vector<std::size_t> started(terms.ranks);
    while (std::ranges::any_of(started, [&](std::size_t n) { return n < plans.size(); })) {
      const auto rank = static_cast<std::uint32_t>(rng.below(terms.ranks));
      std::size_t& next = started[rank];
      if (next < plans.size() && group.rank(rank).start(call_of(plans[next], buffers[next], rank)))
        ++next;
      for (std::uint64_t steps = rng.below(40); steps > 0; --steps)
        group.step();
    }
    group.finish();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      INFO("call " << i << " of " << plans[i].bytes << " bytes, " << plans[i].real << " real, "
                   << terms.ranks << " ranks");
      const auto expected = expected_of(plans[i], buffers[i]);
      for (std::uint32_t rank = 0; rank < terms.ranks; ++rank) {
        REQUIRE(group.rank(rank).finished(i));
        REQUIRE(std::memcmp(buffers[i].results[rank].data(), expected.data(), expected.size()) ==
                0);
      }
    }
    for (std::uint32_t rank = 0; rank < terms.ranks; ++rank) {
      REQUIRE_FALSE(group.rank(rank).busy());
      REQUIRE(group.rank(rank).disagreement().empty());
    }
  }
}

TEST_CASE("bytes behind the end of the data stay where they are, on all ranks that know of it") {
  Rng rng(3);
  Plan plan{.bytes = 8192, .real = 1000, .knows = {true, true, true, true}};
  auto buffers = buffers_of(plan, 4, rng);
  MemoryGroup group(kTerms, 100'000, 3);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    REQUIRE(group.rank(rank).start(call_of(plan, buffers, rank)));
  group.finish();
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(std::all_of(buffers.results[rank].begin() + 1000, buffers.results[rank].end(),
                      [](std::byte byte) { return byte == std::byte{0xa5}; }));
  }
}

TEST_CASE("a call may reduce in place") {
  Rng rng(4);
  Plan plan{.bytes = 9000, .real = 9000, .knows = {true, true, true, true}};
  auto buffers = buffers_of(plan, 4, rng);
  const auto expected = expected_of(plan, buffers);
  MemoryGroup group(kTerms, 100'000, 4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    auto& memory = buffers.inputs[rank];
    REQUIRE(group.rank(rank).start({memory, memory, 9000, plan.type, plan.op}));
  }
  group.finish();
  for (const auto& memory : buffers.inputs)
    CHECK(memory == expected);
}

TEST_CASE("a call waits while the staging is full, and is never started by half") {
  Plan plan{.bytes = 4096, .real = 4096, .knows = {true, true, true, true}};
  Rng rng(5);
  auto first = buffers_of(plan, 4, rng), second = buffers_of(plan, 4, rng);
  const std::size_t one_call = Exchange::staging_bytes(kTerms, plan.bytes);
  CHECK(one_call == 3 * 1024);
  MemoryGroup group(kTerms, one_call, 5);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    REQUIRE(group.rank(rank).start(call_of(plan, first, rank)) == 0);
    REQUIRE_FALSE(group.rank(rank).start(call_of(plan, second, rank)));
  }
  group.finish();
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    REQUIRE(group.rank(rank).start(call_of(plan, second, rank)) == 1);
  group.finish();
  CHECK(second.results[3] == expected_of(plan, second));
}

TEST_CASE("a rank alone is not finished, and a call is finished only where all of it is") {
  Plan plan{.bytes = 4096, .real = 4096, .knows = {true, true, true, true}};
  Rng rng(6);
  auto buffers = buffers_of(plan, 4, rng);
  MemoryGroup group(kTerms, 100'000, 6);
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    REQUIRE(group.rank(rank).start(call_of(plan, buffers, rank)));
  group.finish();
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    CHECK_FALSE(group.rank(rank).finished(0));
    CHECK(group.rank(rank).busy());
  }
}

TEST_CASE("ranks that do not mean the same length say so") {
  Plan plan{.bytes = 4096, .real = 1000, .knows = {true, true, true, true}};
  Rng rng(7);
  auto buffers = buffers_of(plan, 4, rng);
  MemoryGroup group(kTerms, 100'000, 7);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    if (rank == 2) plan.real = 996;
    REQUIRE(group.rank(rank).start(call_of(plan, buffers, rank)));
    plan.real = 1000;
  }
  group.finish();
  const auto says = [&](std::uint32_t rank) { return group.rank(rank).disagreement(); };
  CHECK((!says(0).empty() || !says(1).empty() || !says(2).empty() || !says(3).empty()));
  CHECK_THAT(says(0), Contains("rank 2 of the group has sent 996 bytes"));
}

TEST_CASE("a call of one packet takes one message there and one back for each rank") {
  Plan plan{.bytes = 128, .real = 4, .knows = std::vector<bool>(8, true)};
  Terms terms = kTerms;
  terms.ranks = 8;
  Rng rng(8);
  auto buffers = buffers_of(plan, 8, rng);
  MemoryGroup group(terms, 100'000, 8);
  for (std::uint32_t rank = 0; rank < 8; ++rank)
    REQUIRE(group.rank(rank).start(call_of(plan, buffers, rank)));
  group.finish();
  CHECK(group.messages() == 14);
}
