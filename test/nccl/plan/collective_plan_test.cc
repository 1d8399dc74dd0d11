// Plans executed by ranks whose connections are queues in memory: every rank has the same bits,
// whatever the order of arrival.
#include "nccl/plan/collective_plan.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "catch.h"
#include "collective/memory_group.h"
#include "collective/reduce/reduce.h"
#include "synth/evaluate/proven_sum.h"
#include "synth/input/links_file.h"
#include "synth/plan/plan_file.h"
#include "synth/search/candidates.h"

using namespace dlcp;
using collective::DataType;
using collective::PlannedExchange;
using collective::ReduceOp;
using Group = test::MemoryGroupOf<PlannedExchange>;

namespace {

synth::Topology star(int ranks, const std::string& slow = "100G") {
  return synth::parse_links(
             fmt::format("{{ranks: 'h[0-{0}]', switches: [s], links: [{{from: 'h[1-{0}]', to: s, "
                         "rate: 100G}}, {{from: h0, to: s, rate: {1}}}]}}",
                         ranks - 1, slow),
             "test")
      .value();
}

std::vector<synth::Recipe> recipes_for(int ranks) {
  const synth::Topology topology = star(ranks, "40G");
  const synth::Routes routes(topology);
  auto recipes = synth::regular_candidates(topology, routes, synth::Collective::kAllReduce);
  if (auto weighted = synth::weighted_direct(topology, routes)) recipes.push_back(*weighted);
  std::vector<int> order(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    order[static_cast<std::size_t>(rank)] = rank;
  recipes.push_back(synth::nccl_tree(order));
  return recipes;
}

synth::Plan plan_of(const synth::Recipe& recipe, int ranks) {
  synth::Plan plan;
  plan.topology = "test";
  plan.ranks = ranks;
  plan.rank_names.resize(static_cast<std::size_t>(ranks));
  plan.brackets.push_back({0, recipe, 0, 1});
  return plan;
}

Group group_of(const std::string& plan, int ranks, std::uint64_t seed) {
  return Group(
      static_cast<std::uint32_t>(ranks),
      [&](std::uint32_t rank, std::span<std::byte> staging) {
        const auto part = nccl::collective_plan("p", plan, ranks, static_cast<int>(rank));
        INFO((part.ok() ? std::string() : part.error().message()));
        REQUIRE(part.ok());
        return std::make_unique<PlannedExchange>(static_cast<std::uint32_t>(ranks),
                                                 part.value().sizes, staging);
      },
      2'000'000, seed);
}

using Buffers = std::vector<std::vector<std::byte>>;

Buffers random_buffers(int ranks, std::size_t bytes, Rng& rng) {
  Buffers made(static_cast<std::size_t>(ranks), std::vector<std::byte>(bytes));
  for (auto& buffer : made)
    for (auto& byte : buffer)
      byte = std::byte(rng.below(256));
  return made;
}

// In place, with three calls at the same time.
std::vector<Buffers> reduced(const std::string& plan, const std::vector<Buffers>& inputs,
                             DataType type, ReduceOp op, std::uint64_t seed) {
  const auto ranks = static_cast<int>(inputs[0].size());
  Group group = group_of(plan, ranks, seed);
  std::vector<Buffers> buffers = inputs;
  Rng rng(seed);
  for (Buffers& call : buffers) {
    for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(ranks); ++rank) {
      REQUIRE(group.rank(rank).start({call[rank], call[rank], call[rank].size(), type, op}));
      for (std::uint64_t steps = rng.below(30); steps > 0; --steps)
        group.step();
    }
  }
  group.finish();
  for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(ranks); ++rank) {
    REQUIRE(group.rank(rank).finished(buffers.size() - 1));
    REQUIRE_FALSE(group.rank(rank).busy());
    REQUIRE(group.rank(rank).idle());
    REQUIRE(group.rank(rank).disagreement().empty());
  }
  return buffers;
}

}  // namespace

TEST_CASE(
    "every algorithm of a plan gives all ranks the same bits, whatever the order of arrival") {
  constexpr std::array kTypes{DataType::kInt32, DataType::kFloat32, DataType::kBfloat16,
                              DataType::kInt8};
  std::uint64_t seed = 1;
  for (const int ranks : {2, 3, 5, 8}) {
    for (synth::Recipe recipe : recipes_for(ranks)) {
      for (const int slices : {1, 3}) {
        recipe.slices = slices;
        const DataType type = kTypes[seed % kTypes.size()];
        Rng rng(seed++);
        INFO(fmt::format("{} of {} ranks, {} slices", recipe.name, ranks, slices));
        const std::string plan = synth::write_plan(plan_of(recipe, ranks));
        std::vector<Buffers> inputs;
        for (const std::size_t elements : {1, 7, 1009})
          inputs.push_back(random_buffers(ranks, elements * bytes_of(type), rng));
        const auto once = reduced(plan, inputs, type, ReduceOp::kSum, seed);
        const auto again = reduced(plan, inputs, type, ReduceOp::kSum, seed + 1000);
        REQUIRE(once == again);
        for (std::size_t call = 0; call < inputs.size(); ++call) {
          for (const auto& result : once[call])
            REQUIRE(result == once[call][0]);
          if (is_floating(type)) continue;
          std::vector<const std::byte*> all;
          for (const auto& input : inputs[call])
            all.push_back(input.data());
          std::vector<std::byte> sum(inputs[call][0].size());
          collective::reduce(type, ReduceOp::kSum, all, sum.size(), sum.data());
          REQUIRE(once[call][0] == sum);
        }
      }
    }
  }
}

TEST_CASE("additions of one rank without sending in between are rounded once") {
  // 1 and seven values of half a bfloat16 ulp: added one by one, each would be rounded away.
  const synth::Recipe direct{
      "direct", synth::Family::kExchange, {0, 1, 2, 3, 4, 5, 6, 7}, {{8, false}}, {}, {}, {}, 1};
  const std::string plan = synth::write_plan(plan_of(direct, 8));
  const auto fill = [](std::uint16_t value) {
    std::vector<std::byte> bytes(16);
    for (std::size_t i = 0; i < 8; ++i)
      std::memcpy(&bytes[2 * i], &value, 2);
    return bytes;
  };
  Buffers input(8, fill(0x3b80));  // 2^-8
  input[0] = fill(0x3f80);         // 1
  const auto result = reduced(plan, {input}, DataType::kBfloat16, ReduceOp::kSum, 1);
  for (const auto& of_rank : result[0])
    REQUIRE(of_rank ==
            fill(0x3f84));  // 1 + 7/256 rounded to the nearest multiple of 1/128: half to even
}

TEST_CASE("plans for another group are refused, and the error says which group they are for") {
  const auto why = [](const synth::Plan& plan, int ranks) {
    return nccl::collective_plan("p.json", synth::write_plan(plan), ranks, 0).error().message();
  };
  const synth::Recipe ring = synth::nccl_ring({0, 1, 2, 3});
  synth::Plan plan = plan_of(ring, 4);
  CHECK_THAT(why(plan, 5),
             Contains("DLCP_PLAN = 'p.json': the plan is for 4 ranks, but the communicator has 5"));
  plan.collective = synth::Collective::kAllGather;
  CHECK_THAT(why(plan, 4), Contains("the plan is for allgather"));
  CHECK_THAT(nccl::collective_plan("p.json", "{}", 4, 0).error().message(), Contains("DLCP_PLAN"));
}

TEST_CASE("a plan in which ranks add in different orders is refused") {
  synth::Recipe recipe;
  recipe.name = "everyone adds";
  recipe.family = synth::Family::kExplicit;
  synth::Schedule& schedule = recipe.schedule;
  schedule.collective = synth::Collective::kAllReduce;
  schedule.ranks = 3;
  schedule.chunks.push_back({0, 1, -1, -1});
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to)
      if (from != to) schedule.add(0, from, to, true, synth::Range{0, 1});
  }
  CHECK_FALSE(synth::adds_alike(schedule));
  const auto refused =
      nccl::collective_plan("p", synth::write_plan(plan_of(recipe, 3)), 3, 0).error().message();
  CHECK_THAT(refused, Contains("ranks add in different orders"));
}

TEST_CASE("a message with another length than the plan's is reported as a disagreement") {
  const auto part =
      nccl::collective_plan("p", synth::write_plan(plan_of(synth::nccl_ring({0, 1}), 2)), 2, 0);
  std::vector<std::byte> staging(10'000), data(800);
  PlannedExchange exchange(2, part.value().sizes, staging);
  REQUIRE(exchange.start({data, data, 800, DataType::kFloat32, ReduceOp::kSum}));
  struct Taking final : collective::Mesh {
    bool post(const collective::Transfer& transfer) override {
      if (!transfer.sends) receives.push_back(transfer);
      return true;
    }
    std::vector<collective::Transfer> receives;
  } mesh;
  exchange.post_to(mesh);
  REQUIRE_FALSE(mesh.receives.empty());
  exchange.on_done(mesh.receives[0], mesh.receives[0].memory.size() - 4);
  CHECK_THAT(exchange.disagreement(), Contains("but the plan says"));
}

TEST_CASE("a call waits for room in the staging, and reports how much it needs") {
  const auto part =
      nccl::collective_plan("p", synth::write_plan(plan_of(synth::nccl_ring({0, 1}), 2)), 2, 0);
  std::vector<std::byte> data(8000);
  const collective::Call call{data, data, 8000, DataType::kFloat32, ReduceOp::kSum};
  std::vector<std::byte> staging(16'000);
  PlannedExchange exchange(2, part.value().sizes, staging);
  REQUIRE(exchange.staging_needed(call) == 16'000);  // half in each direction, twice
  REQUIRE(exchange.start(call) == 0);
  REQUIRE_FALSE(exchange.start(call));
}
