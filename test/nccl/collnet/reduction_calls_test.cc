// Calls of the collective plugin matched with the information from NCCL's profiler interface.
#include "nccl/collnet/reduction_calls.h"

#include <vector>

#include "catch.h"

using dlcp::nccl::ReductionCalls;
using dlcp::nccl::Unmatched;

namespace {

constexpr int kFloat = 7;

void begin(ReductionCalls& calls, std::uint64_t number, std::size_t tensor_bytes,
           std::size_t channels, std::size_t chunk, std::size_t steps) {
  for (std::size_t i = 0; i < 2 * channels; ++i)
    calls.on_operation({number, i / 2, kFloat, tensor_bytes, chunk, steps});
}

}  // namespace

TEST_CASE("the calls of a tensor add up to its size, and the last has only the rest") {
  // As observed with NCCL 2.30: 1.2 MB on 2 channels are 5 steps of 2 x 128 KiB.
  ReductionCalls calls;
  begin(calls, 1, 1'200'000, 2, 128 << 10, 5);
  std::size_t sum = 0;
  for (int i = 0; i < 5; ++i) {
    const auto real = calls.next(256 << 10, kFloat);
    REQUIRE(real);
    sum += *real;
    CHECK(*real == (i < 4 ? 256u << 10 : 1'200'000 - 4 * (256u << 10)));
  }
  CHECK(sum == 1'200'000);
  CHECK_FALSE(calls.next(256 << 10, kFloat));  // no further call was announced
  CHECK(calls.unmatched() == Unmatched::kNot);
}

TEST_CASE("more than eight channels are combined in groups, step by step") {
  ReductionCalls calls;
  constexpr std::size_t kChunk = 64 << 10;
  begin(calls, 1, 20 * kChunk + 4, 12, kChunk, 2);
  CHECK(calls.next(8 * kChunk, kFloat) == 8 * kChunk);  // step 0: chunks 0 to 7,
  CHECK(calls.next(4 * kChunk, kFloat) == 4 * kChunk);  // 8 to 11
  CHECK(calls.next(8 * kChunk, kFloat) == 8 * kChunk);  // step 1: 12 to 19,
  CHECK(calls.next(4 * kChunk, kFloat) == 4);           // 20 to 23
}

TEST_CASE("a call entirely behind the tensor's end has no data") {
  ReductionCalls calls;
  begin(calls, 1, 4, 16, 4096, 1);
  CHECK(calls.next(8 * 4096, kFloat) == 4);
  CHECK(calls.next(8 * 4096, kFloat) == 0);
}

TEST_CASE("all-reduces are matched in the order in which they were announced") {
  ReductionCalls calls;
  begin(calls, 1, 100, 1, 4096, 1);
  begin(calls, 2, 200, 1, 4096, 1);
  CHECK(calls.next(4096, kFloat) == 100);
  CHECK(calls.reduction() == 1);
  CHECK(calls.next(4096, kFloat) == 200);
  CHECK(calls.reduction() == 2);
  begin(calls, 2, 200, 1, 4096, 1);  // as in a replayed CUDA graph: a further all-reduce
  CHECK(calls.next(4096, kFloat) == 200);
  CHECK(calls.reduction() == 3);
}

TEST_CASE("after a contradiction the information is not used any more") {
  const auto contradicted_by = [](auto&& change) {
    ReductionCalls calls;
    begin(calls, 1, 20'000, 2, 4096, 3);
    change(calls);
    CHECK(calls.unmatched() != Unmatched::kNot);
    CHECK_FALSE(calls.next(2 * 4096, kFloat));
    begin(calls, 2, 20'000, 2, 4096, 3);
    CHECK_FALSE(calls.next(2 * 4096, kFloat));
  };
  contradicted_by([](ReductionCalls& calls) { calls.next(4096, kFloat); });          // another size
  contradicted_by([](ReductionCalls& calls) { calls.next(2 * 4096, kFloat + 1); });  // type
  contradicted_by([](ReductionCalls& calls) { calls.on_unknown(Unmatched::kForm); });
  contradicted_by([](ReductionCalls& calls) {  // an operation in the middle
    calls.next(2 * 4096, kFloat);
    calls.on_operation({1, 0, kFloat, 20'000, 4096, 3});
  });
  contradicted_by([](ReductionCalls& calls) {  // channels that are divided differently
    calls.on_operation({1, 0, kFloat, 20'000, 8192, 3});
  });
  contradicted_by([](ReductionCalls& calls) {  // one direction without the other
    calls.on_operation({1, 0, kFloat, 20'000, 4096, 3});
    calls.next(2 * 4096, kFloat);
  });
}

TEST_CASE("if other processes of the host have some of the channels, no call is known") {
  const auto divided = [](const std::vector<std::size_t>& channels, std::size_t tensor_bytes,
                          std::size_t steps) {
    ReductionCalls calls;
    for (const std::size_t channel : channels)
      for (int direction = 0; direction < 2; ++direction)
        calls.on_operation({1, channel, kFloat, tensor_bytes, 4096, steps});
    const bool known = calls.next(channels.size() * 4096, kFloat).has_value();
    CHECK(calls.unmatched() == (known ? Unmatched::kNot : Unmatched::kDivided));
    return !known;
  };
  CHECK_FALSE(divided({0, 1}, 3 * 4096, 2));
  CHECK(divided({0, 2}, 4096 + 1, 1));        // of four; the second chunk is another process's
  CHECK(divided({1}, 4096 + 1024, 1));        // of two
  CHECK(divided({0}, 4096 + 1024, 1));        // of two: one step, although it exceeds one chunk
  CHECK_FALSE(divided({0, 1}, 2 * 4096, 1));  // all of the tensor is in these two, if of four
}
