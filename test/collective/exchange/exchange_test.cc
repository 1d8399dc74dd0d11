#include "collective/exchange/exchange.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "catch.h"
#include "collective/memory_group.h"
#include "collective/reduce/reduce.h"

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
  std::vector<bool> knows;  // by rank: whether it has the real length
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

// The expected data on every rank: all ranks' inputs reduced in rank order.
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

TEST_CASE("every rank has the sum in rank order, whatever the order of arrival") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    Rng rng(seed);
    Terms terms = kTerms;
    terms.ranks = 2 + static_cast<std::uint32_t>(rng.below(7));
    terms.hubs = seed % 2 == 0 ? 0 : 1 + static_cast<std::uint32_t>(rng.below(4));
    MemoryGroup group(terms, 1'000'000, seed);
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
                   << terms.ranks << " ranks, " << terms.hubs << " hubs");
      const auto expected = expected_of(plans[i], buffers[i]);
      for (std::uint32_t rank = 0; rank < terms.ranks; ++rank) {
        REQUIRE(group.rank(rank).finished(i));
        REQUIRE(std::memcmp(buffers[i].results[rank].data(), expected.data(), expected.size()) ==
                0);
      }
    }
    for (std::uint32_t rank = 0; rank < terms.members(); ++rank) {
      REQUIRE_FALSE(group.rank(rank).busy());
      REQUIRE(group.rank(rank).idle());
      REQUIRE(group.rank(rank).disagreement().empty());
    }
  }
}

TEST_CASE("bytes behind the end of the data are not changed on ranks that have the real length") {
  Rng rng(3);
  Plan plan{.bytes = 8192, .real = 1000, .knows = {true, true, true, true}};
  auto buffers = buffers_of(plan, 4, rng);
  MemoryGroup group(kTerms, 100'000, 3);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    REQUIRE(group.rank(rank).start(call_of(plan, buffers, rank)));
  group.finish();
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(std::all_of(
        buffers.results[rank].begin() + 1000, buffers.results[rank].end(),
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

TEST_CASE("a call waits while the staging is full, and is never started partially") {
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

TEST_CASE("one rank cannot finish by itself, and a call is finished only when all of it is") {
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

TEST_CASE("ranks with different lengths of a call report it") {
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
  CHECK_THAT(says(0), Contains("rank 2 of the group sent 996 bytes"));
}

TEST_CASE("a call of one packet sends one message to each rank and receives one") {
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

// ---- loss ----

namespace {

constexpr std::uint32_t kLossPpm = 50'000;

struct LossyRun {
  std::uint32_t ranks = 4;
  std::vector<Plan> plans;
  std::vector<Buffers> buffers;
  std::vector<std::uint64_t> lost;                            // by call: bytes of contributions
  std::vector<std::vector<std::vector<std::uint16_t>>> gone;  // by call, rank and element
};

// Calls of one tensor, all started at once; every rank's losses are recorded element by element.
LossyRun run_lossy(std::uint64_t seed, LossFill fill, const std::vector<Plan>& plans,
                   const std::vector<std::uint64_t>& tensors, std::uint32_t ranks,
                   std::uint32_t loss_ppm = kLossPpm, std::uint32_t hubs = 0) {
  Rng rng(seed);
  Terms terms = kTerms;
  terms.ranks = ranks;
  terms.loss_ppm = loss_ppm;
  terms.fill = fill;
  terms.hubs = hubs;
  LossyRun run{ranks, plans, {}, {}, {}};
  MemoryGroup group(terms, 4'000'000, seed);
  group.lose(0.05 + 0.1 * rng.unit(), 256);
  for (const Plan& plan : plans) {
    run.buffers.push_back(buffers_of(plan, ranks, rng));
    for (auto& input : run.buffers.back().inputs) {
      if (plan.type == DataType::kFloat32) {
        for (std::size_t i = 0; i + 4 <= input.size(); i += 4) {
          const auto value = static_cast<float>(rng.below(2000)) - 1000.0f;
          std::memcpy(&input[i], &value, 4);
        }
      }
    }
  }
  run.lost.resize(plans.size());
  run.gone.assign(plans.size(), std::vector<std::vector<std::uint16_t>>(ranks));
  for (std::size_t i = 0; i < plans.size(); ++i)
    for (auto& rank : run.gone[i])
      rank.resize(plans[i].bytes);
  group.on_lost([&](const Transfer& transfer, ByteRange range) {
    const std::size_t at =
        Layout(terms, transfer.call, plans[transfer.call].bytes).offset(transfer.block);
    run.lost[transfer.call] += range.size();
    for (std::size_t byte = at + range.begin; byte < at + range.end; ++byte)
      run.gone[transfer.call][transfer.peer][byte] = 1;
  });
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      Call call = call_of(plans[i], run.buffers[i], rank);
      call.tensor = tensors[i];
      REQUIRE(group.rank(rank).start(call));
    }
    for (std::uint64_t steps = rng.below(40); steps > 0; --steps)
      group.step();
  }
  group.finish();
  for (std::uint32_t rank = 0; rank < terms.members(); ++rank)
    REQUIRE(group.rank(rank).idle());
  return run;
}

void check_lossy(const LossyRun& run, LossFill fill, std::size_t call) {
  const Plan& plan = run.plans[call];
  const Buffers& buffers = run.buffers[call];
  for (std::uint32_t rank = 1; rank < run.ranks; ++rank)
    REQUIRE(std::memcmp(buffers.results[rank].data(), buffers.results[0].data(), plan.real) == 0);
  for (std::size_t at = 0; at + 4 <= plan.real; at += 4) {
    float sum = 0;
    std::uint32_t came = 0;
    for (std::uint32_t rank = 0; rank < run.ranks; ++rank) {
      if (run.gone[call][rank][at] != 0) continue;
      float value = 0;
      std::memcpy(&value, &buffers.inputs[rank][at], 4);
      sum += value;
      ++came;
    }
    if (fill == LossFill::kRescale && came > 0 && came < run.ranks)
      sum *= static_cast<float>(run.ranks) / static_cast<float>(came);
    float result = 0;
    std::memcpy(&result, &buffers.results[0][at], 4);
    REQUIRE(result == sum);  // integers: exact in any order
  }
}

}  // namespace

TEST_CASE(
    "lost data is filled as agreed, equally on all ranks, and never more than P of a tensor") {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Rng rng(seed);
    const auto ranks = 2 + static_cast<std::uint32_t>(rng.below(7));
    std::vector<Plan> plans;
    for (int i = 0; i < 4; ++i) {
      Plan plan{.bytes = (1 + rng.below(9000)) * 4, .knows = std::vector<bool>(ranks, true)};
      plan.real = rng.chance(0.7) ? plan.bytes : 4 * (1 + rng.below(plan.bytes / 4));
      plans.push_back(plan);
    }
    const LossFill fill = seed % 2 == 0 ? LossFill::kZero : LossFill::kRescale;
    const std::uint32_t hubs = seed % 3 == 0 ? 1 + static_cast<std::uint32_t>(seed / 3 % 4) : 0;
    const LossyRun run = run_lossy(seed, fill, plans, {7, 7, 8, 8}, ranks, kLossPpm, hubs);
    for (std::size_t first : {0u, 2u}) {
      const std::uint64_t there = (plans[first].real + plans[first + 1].real) * ranks;
      const std::uint64_t gone = run.lost[first] + run.lost[first + 1];
      REQUIRE(gone <= there * kLossPpm / 1'000'000);
      lost += gone;
    }
    for (std::size_t call = 0; call < plans.size(); ++call)
      check_lossy(run, fill, call);
  }
  CHECK(lost > 100'000);
}

TEST_CASE("only sums of fp32, fp16 and bf16 of an announced tensor have a licence") {
  for (const auto& [type, op, tensor, loses] :
       {std::tuple{DataType::kFloat32, ReduceOp::kSum, 1u, true},
        {DataType::kFloat16, ReduceOp::kSum, 1u, true},
        {DataType::kBfloat16, ReduceOp::kSum, 1u, true},
        {DataType::kFloat32, ReduceOp::kSum, 0u, false},
        {DataType::kFloat64, ReduceOp::kSum, 1u, false},
        {DataType::kInt32, ReduceOp::kSum, 1u, false},
        {DataType::kUint8, ReduceOp::kSum, 1u, false},
        {DataType::kFloat32, ReduceOp::kMax, 1u, false},
        {DataType::kFloat32, ReduceOp::kMin, 1u, false},
        {DataType::kFloat32, ReduceOp::kProd, 1u, false}}) {
    Plan plan{.bytes = 65536, .real = 65536, .knows = std::vector<bool>(4, true)};
    plan.type = type;
    plan.op = op;
    const LossyRun run = run_lossy(9, LossFill::kZero, {plan}, {tensor}, 4);
    INFO("type " << static_cast<int>(type) << ", operation " << static_cast<int>(op));
    CHECK((run.lost[0] > 0) == loses);
  }
  Plan plan{.bytes = 65536, .real = 65536, .knows = std::vector<bool>(4, true)};
  CHECK(run_lossy(9, LossFill::kZero, {plan}, {1}, 4, 0).lost[0] == 0);  // without a budget
}

TEST_CASE("16-bit sums are rescaled in fp32 and rounded once") {
  Plan plan{.bytes = 65536, .real = 65536, .knows = std::vector<bool>(4, true)};
  plan.type = DataType::kBfloat16;
  const LossyRun run = run_lossy(3, LossFill::kRescale, {plan}, {1}, 4);
  REQUIRE(run.lost[0] > 0);
  std::vector<std::byte> expected(plan.bytes);
  for (std::size_t at = 0; at < plan.bytes; at += 128) {  // cell by cell
    std::vector<std::vector<std::byte>> cells;
    std::vector<const std::byte*> inputs;
    std::uint16_t came = 0;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const bool gone = run.gone[0][rank][at] != 0;
      const std::byte* from = run.buffers[0].inputs[rank].data() + at;
      cells.push_back(gone ? std::vector<std::byte>(128)
                           : std::vector<std::byte>(from, from + 128));
      if (!gone) ++came;
    }
    for (const auto& cell : cells)
      inputs.push_back(cell.data());
    reduce_scaled(plan.type, inputs, 128, {{&came, 1}, 128}, &expected[at]);
  }
  CHECK(run.buffers[0].results[2] == expected);
}

TEST_CASE("blocks that lack parts are counted separately") {
  Plan plan{.bytes = 65536, .real = 65536, .knows = std::vector<bool>(4, true)};
  Terms terms = kTerms;
  terms.loss_ppm = 250'000;
  MemoryGroup group(terms, 400'000, 3);
  group.lose(0.1, 256);
  Rng rng(3);
  auto buffers = buffers_of(plan, 4, rng);
  std::uint64_t partial = 0;
  std::uint64_t whole = 0;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Call call = call_of(plan, buffers, rank);
    call.tensor = 1;
    REQUIRE(group.rank(rank).start(call));
  }
  group.finish();
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    partial += group.rank(rank).blocks().partial;
    whole += group.rank(rank).blocks().whole;
  }
  CHECK(partial + whole == 64);
  CHECK(partial > 10);
  CHECK(whole > 0);
}
