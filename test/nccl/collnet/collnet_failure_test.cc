// Direct exchange in which one rank fails: what its caller and the other ranks get.
#include <algorithm>
#include <array>
#include <thread>

#include "catch.h"
#include "collective_group.h"
#include "nccl/abi/net/net_v12.h"

using namespace dlcp::test;

TEST_CASE("a call that exceeds the staging fails with the setting's name") {
  CollectivePlugin fixture(Settings{{"DLCP_COLLNET_MEMORY", "1m"}});
  CollectiveGroup group(*fixture.plugin, 2);
  group.connect();
  std::vector<float> input(4 << 20), result(4 << 20);
  void* request = nullptr;
  take_log();
  CHECK(group.table().iallreduce(group.rank(0).group, input.data(), result.data(), input.size(), 7,
                                 0, nullptr, nullptr, &request) == ResultCode::kInvalidUsage);
  CHECK_THAT(joined_log(), Contains("DLCP_COLLNET_MEMORY"));
}

TEST_CASE("memory that is deregistered during a call is no longer used, and the call fails") {
  std::vector<float> input(1000, 1), result(1000, -99), other(1000, -99);
  CollectivePlugin fixture;
  CollectiveGroup group(*fixture.plugin, 2);
  group.connect();
  void* registration = nullptr;
  std::vector<float>& released = GENERATE(true, false) ? input : result;
  REQUIRE(group.table().regMr(group.rank(0).group, released.data(), released.size() * sizeof(float),
                              dlcp::nccl::kPtrHost, &registration) == ResultCode::kSuccess);
  std::array<void*, 2> requests{};
  REQUIRE(group.start(0, input, result, &requests[0]) == ResultCode::kSuccess);
  REQUIRE(group.start(1, input, other, &requests[1]) == ResultCode::kSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // contributions arrive meanwhile
  REQUIRE(group.table().deregMr(group.rank(0).group, registration) == ResultCode::kSuccess);
  CHECK(group.finish(requests[0]) == ResultCode::kInvalidUsage);
  CHECK(group.finish(requests[1]) == ResultCode::kRemoteError);
  CHECK(std::ranges::count(result, -99.0f) == 1000);
}

TEST_CASE("a failure that one rank finds ends the other ranks' calls, with its reason") {
  std::vector<float> input(4 << 20, 1), small(1000), large(4 << 20);  // live longer than the plugin
  CollectivePlugin fixture(Settings{{"DLCP_COLLNET_MEMORY", "1m"}});
  CollectiveGroup group(*fixture.plugin, 2);
  group.connect();
  void* waiting = nullptr;
  void* refused = nullptr;
  REQUIRE(group.start(1, input, small, &waiting) == ResultCode::kSuccess);
  CHECK(group.start(0, input, large, &refused) == ResultCode::kInvalidUsage);
  take_log();
  CHECK(group.finish(waiting) == ResultCode::kRemoteError);
  CHECK_THAT(joined_log(), Contains("the peer reported an error: an all-reduce of 16777216 bytes"));
}

TEST_CASE("a communicator that ends during a call says so, and so do the other ranks") {
  std::vector<float> input(1000, 1), results[3] = {input, input, input};
  CollectivePlugin fixture;
  CollectiveGroup group(*fixture.plugin, 3);
  group.connect();
  std::array<void*, 3> requests{};
  for (int rank = 0; rank < 3; ++rank)
    if (rank != 2)  // which prevents the call from finishing
      REQUIRE(group.start(rank, input, results[rank], &requests[rank]) == ResultCode::kSuccess);
  take_log();
  group.close(0);
  CHECK(group.finish(requests[1]) == ResultCode::kRemoteError);
  const std::string log = joined_log();
  CHECK_THAT(log, Contains("NET/DLCP : the communicator was aborted during an all-reduce"));
  CHECK_THAT(log, Contains("the peer reported an error: the communicator was aborted during an"));
  CHECK_THAT(log, !Contains("deregistered"));
}
