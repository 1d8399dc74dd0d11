// The decision for one message, at its exact boundaries. licence_test checks that nothing else
// loses data.
#include "nccl/loss/licence_grant.h"

#include "catch.h"
#include "nccl/profiler/collective.h"

namespace {

using namespace dlcp;
using namespace dlcp::nccl;

OpContext all_reduce_step(std::uint32_t ranks, std::uint32_t step) {
  OpContext context;
  context.operation = 1;
  context.collective = {Function::kAllReduce,
                        Algorithm::kRing,
                        Protocol::kSimple,
                        gradient::ElementType::kBfloat16,
                        1 << 20,
                        4};
  context.ranks = ranks;
  context.steps = 3 * 2 * (ranks - 1) * 2;
  context.step = step;
  return context;
}

constexpr LossTerms kTerms{.budget_ppm = 10'000};
constexpr TransferAttributes kRing{1u << 4, 1u << 1, 1u << 2};

}  // namespace

TEST_CASE("a ring's stage follows from the step: two messages per chunk, partial sums first") {
  for (const std::uint32_t ranks : {2u, 3u, 4u, 64u}) {
    const std::uint32_t per_loop = 4 * (ranks - 1);
    for (std::uint32_t step = 0; step < 3 * per_loop; ++step) {
      const std::uint32_t stage = step % per_loop / 2;
      const Ruling ruling = judge(kTerms, all_reduce_step(ranks, step), kRing);
      REQUIRE((ruling.exact == Exact::kNot) == (stage < ranks - 1));
      REQUIRE((ruling.exact == Exact::kFinalValues) == (stage >= ranks - 1));
      if (ruling.exact == Exact::kNot) REQUIRE(ruling.licence.stage == stage);
    }
    CHECK(judge(kTerms, all_reduce_step(ranks, 3 * per_loop), kRing).exact == Exact::kSteps);
  }
}

TEST_CASE("a licence carries the channel's share of the result and the user's terms") {
  OpContext context = all_reduce_step(4, 2);
  core::Licence licence = judge(kTerms, context, kRing).licence;
  CHECK(licence.result_bytes == (2 << 20) / 4);
  CHECK(licence.ranks == 4);
  CHECK(licence.hops == 4);
  CHECK(licence.stage == 1);
  CHECK(licence.budget_ppm == 10'000);
  CHECK(licence.element == gradient::ElementType::kBfloat16);
  CHECK_FALSE(licence.urgent);
  context.urgent = true;
  CHECK(judge(kTerms, context, kRing).licence.urgent);
  LossTerms bulk = kTerms;
  bulk.priority = CommunicatorClass::Priority::kBulk;
  CHECK_FALSE(judge(bulk, context, kRing).licence.urgent);
  LossTerms urgent = kTerms;
  urgent.priority = CommunicatorClass::Priority::kUrgent;
  CHECK(judge(urgent, all_reduce_step(4, 2), kRing).licence.urgent);
}

TEST_CASE("without setNetAttr in the interface the profiler's information decides") {
  CHECK(judge(kTerms, all_reduce_step(4, 0), std::nullopt).exact == Exact::kNot);
  CHECK(judge(kTerms, all_reduce_step(4, 0), TransferAttributes{}).exact == Exact::kContradiction);
}

TEST_CASE("without a profiler setNetAttr licenses only ReduceScatter of a stated type") {
  constexpr TransferAttributes kScatter{1u << 3, 1u << 1, 1u << 2};
  LossTerms terms = kTerms;
  CHECK(judge_by_attributes(terms, kScatter, 4).exact == Exact::kNoProfiler);
  terms.stated_type = gradient::ElementType::kFloat16;
  const Ruling ruling = judge_by_attributes(terms, kScatter, 4);
  REQUIRE(ruling.exact == Exact::kNot);
  CHECK(ruling.licence.result_bytes == 0);
  CHECK(ruling.licence.ranks == 4);
  CHECK(ruling.licence.hops == 4);
  CHECK(ruling.licence.stage == 2);
  CHECK(ruling.licence.budget_ppm == 10'000);
  CHECK(ruling.licence.element == gradient::ElementType::kFloat16);
  CHECK_FALSE(ruling.licence.urgent);
  terms.priority = CommunicatorClass::Priority::kUrgent;
  CHECK(judge_by_attributes(terms, kScatter, 4).licence.urgent);
  CHECK(judge_by_attributes(terms, kScatter, 0).exact == Exact::kNoProfiler);
  CHECK(judge_by_attributes(terms, kScatter, 1).exact == Exact::kNoProfiler);
  CHECK(judge_by_attributes(terms, kRing, 4).exact == Exact::kNoProfiler);
  CHECK(judge_by_attributes(terms, {}, 4).exact == Exact::kFunction);
  CHECK(judge_by_attributes(terms, {1u << 3, 1u << 6, 1u << 2}, 4).exact == Exact::kAlgorithm);
  CHECK(judge_by_attributes(terms, {1u << 3, 1u << 1, 1u << 1}, 4).exact == Exact::kProtocol);
  terms.budget_ppm = 0;
  CHECK(judge_by_attributes(terms, kScatter, 4).exact == Exact::kNoBudget);
}

TEST_CASE("communicators of one rank, and other degenerate ones, are exact") {
  OpContext context = all_reduce_step(2, 0);
  context.ranks = 1;
  CHECK(judge(kTerms, context, kRing).exact == Exact::kSteps);
  context = all_reduce_step(2, 0);
  context.collective.channels = 0;
  CHECK(judge(kTerms, context, kRing).exact == Exact::kSteps);
  CHECK(judge(LossTerms{}, all_reduce_step(2, 0), kRing).exact == Exact::kNoBudget);
}

TEST_CASE("a message has two of the buffer's eight steps, and a chunk four") {
  constexpr std::size_t kMiB = 1 << 20;
  OpContext context = all_reduce_step(4, 0);
  context.chunk_bytes = 4 * kMiB;
  CHECK(cut_as_known(context, kMiB, 4 * kMiB));
  CHECK_FALSE(cut_as_known(context, kMiB / 2, 4 * kMiB));  // one step per message
  CHECK_FALSE(cut_as_known(context, kMiB, 8 * kMiB));
  context.chunk_bytes = 8 * kMiB;  // eight steps per chunk
  CHECK_FALSE(cut_as_known(context, kMiB, 4 * kMiB));
  context.chunk_bytes = kMiB;  // with NCCL_BUFFSIZE
  CHECK(cut_as_known(context, kMiB / 4, kMiB));
}

TEST_CASE("every reason has a text") {
  for (unsigned why = 0; why <= static_cast<unsigned>(Exact::kSteps); ++why)
    CHECK(std::string(words_for(static_cast<Exact>(why))) != "");
}

TEST_CASE("empty names, and names that NCCL does not use, decode to nothing") {
  CHECK(function_named(nullptr) == Function::kOther);
  CHECK(function_named("allreduce") == Function::kOther);
  CHECK(algorithm_named(nullptr) == Algorithm::kOther);
  CHECK(protocol_named("SIMPLE128") == Protocol::kOther);
  CHECK(type_named(nullptr) == gradient::ElementType::kOther);
  CHECK(type_named("ncclFloat64") == gradient::ElementType::kOther);
  CHECK_FALSE(only(~0u, Function::kAllReduce));
  CHECK_FALSE(only(0, Function::kBroadcast));
  CHECK_FALSE(only(1u << 31, Function::kOther));
}
