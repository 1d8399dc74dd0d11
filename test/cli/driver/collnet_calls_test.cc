#include "cli/driver/collnet/collnet_calls.h"

#include "catch.h"

using dlcp::cli::CollNetCalls;

TEST_CASE("calls have the same sizes as NCCL 2.30's on two channels") {
  struct Seen {
    std::size_t bytes, call;
    std::uint64_t count;
  };
  for (const Seen& seen : {Seen{65536, 65536, 1},
                           {1 << 20, 131072, 8},
                           {1'200'000, 131072, 10},
                           {8 << 20, 262144, 32},
                           {25 << 20, 262144, 100}}) {
    const CollNetCalls calls(seen.bytes, 2);
    CHECK(calls.groups() == 1);
    CHECK(calls.call_bytes(0) == seen.call);
    CHECK(calls.count() == seen.count);
  }
  CHECK(CollNetCalls(4, 1).call_bytes(0) == 32768);
}

TEST_CASE("the calls of all groups cover every byte once, in order") {
  for (const std::size_t channels : {1u, 2u, 8u, 9u, 16u, 20u}) {
    for (const std::size_t bytes : {4u, 65536u, 1'200'000u, 9'999'996u}) {
      const CollNetCalls calls(bytes, channels);
      std::size_t at = 0;
      for (std::uint64_t number = 0; number < calls.count(); number++) {
        REQUIRE(calls.real_bytes(number) <= calls.call_bytes(number % calls.groups()));
        if (calls.real_bytes(number) == 0) continue;
        REQUIRE(calls.offset(number) == at);
        at += calls.real_bytes(number);
      }
      REQUIRE(at == bytes);
    }
  }
}

TEST_CASE("beyond eight channels there are groups, and the last has the rest") {
  const CollNetCalls calls(25 << 20, 20);
  REQUIRE(calls.groups() == 3);
  CHECK(calls.call_bytes(0) == calls.call_bytes(1));
  CHECK(calls.call_bytes(2) == calls.call_bytes(0) / 2);
}
