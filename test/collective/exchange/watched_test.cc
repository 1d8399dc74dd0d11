// Calls with pauses between them, in which every connection has a pending receive.
#include "collective/exchange/watched.h"

#include <cstring>
#include <numeric>

#include "catch.h"
#include "collective/memory_group.h"

using namespace dlcp;
using namespace dlcp::collective;

namespace {

using Group = test::MemoryGroupOf<Watched>;

constexpr std::size_t kStaging = 1 << 20;

Group group_of(std::uint32_t ranks, std::uint64_t seed) {
  return Group(
      ranks,
      [ranks](std::uint32_t rank, std::span<std::byte> staging) {
        return std::make_unique<Watched>(
            ranks, rank, staging,
            [=](std::span<std::byte> rest) {
              return std::make_unique<Exchange>(Terms{ranks, rank, 128, 1024}, rest);
            });
      },
      kStaging, seed);
}

const Call kPause;

using Vectors = std::vector<std::vector<std::int32_t>>;

// Returns once the call has finished on all ranks; other messages may be in transit then.
void check_sum(Group& group, std::uint32_t ranks, std::size_t count) {
  Vectors inputs(ranks, std::vector<std::int32_t>(count)), results = inputs;
  std::vector<std::uint64_t> calls;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::iota(inputs[rank].begin(), inputs[rank].end(), static_cast<std::int32_t>(rank));
    Call call;
    call.input = std::as_bytes(std::span(inputs[rank]));
    call.result = std::as_writable_bytes(std::span(results[rank]));
    call.real_bytes = call.input.size();
    call.type = DataType::kInt32;
    const auto number = group.rank(rank).start(call);
    REQUIRE(number.has_value());
    calls.push_back(*number);
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    while (!group.rank(rank).finished(calls[rank]))
      REQUIRE(group.step());
    for (std::size_t i = 0; i < count; ++i)
      REQUIRE(results[rank][i] == static_cast<std::int32_t>(ranks * (ranks - 1) / 2 + ranks * i));
  }
}

}  // namespace

TEST_CASE("calls before, between and after pauses are correct") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    INFO("seed " << seed);
    const std::uint32_t ranks = 2 + static_cast<std::uint32_t>(seed % 4);
    auto group = group_of(ranks, seed);
    check_sum(group, ranks, 1000);
    for (int round = 0; round < 4; ++round) {
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        CHECK(group.rank(rank).start(kPause) == Watched::kPauseNumber);
        CHECK(group.rank(rank).start(kPause) == Watched::kPauseNumber);  // once
      }
      group.finish();
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        CHECK_FALSE(group.rank(rank).finished(Watched::kPauseNumber));
        CHECK(group.rank(rank).idle());  // nothing prevents a rank from leaving
        CHECK_FALSE(group.rank(rank).busy());
      }
      check_sum(group, ranks, 300);
      check_sum(group, ranks, 77);
    }
    group.finish();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      CHECK(group.rank(rank).idle());
      CHECK(group.rank(rank).disagreement().empty());
    }
  }
}

TEST_CASE(
    "in a pause a receive is posted for every other rank, and each rank that leaves completes its "
    "own") {
  auto group = group_of(3, 1);
  const auto before = group.messages();
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    group.rank(rank).start(kPause);
  group.finish();
  CHECK(group.messages() == before);
  group.rank(0).leave();
  CHECK_FALSE(group.rank(0).delivered());
  group.finish();
  CHECK(group.messages() == before + 2);
  CHECK(group.rank(0).delivered());
  CHECK_FALSE(group.rank(0).idle());  // the others have not answered yet
  CHECK_FALSE(group.rank(0).busy());
  for (std::uint32_t rank = 1; rank < 3; ++rank)
    group.rank(rank).leave();
  group.finish();
  CHECK(group.messages() == before + 6);
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    CHECK(group.rank(rank).idle());
}

TEST_CASE("a pause does not begin before all messages of the previous one have arrived") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const std::uint32_t ranks = 2 + static_cast<std::uint32_t>(seed % 3);
    auto group = group_of(ranks, seed);
    for (int round = 0; round < 4; ++round) {
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        while (!group.rank(rank).start(kPause))
          REQUIRE(group.step());
      group.finish();
      check_sum(group, ranks, 1);  // may finish before some messages that ended the pause arrive
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      CHECK(group.rank(rank).disagreement().empty());
  }
  auto group = group_of(2, 1);
  group.rank(0).start(kPause);
  group.rank(1).start(kPause);
  std::int32_t value = 1, sums[2];
  Call call;
  call.input = std::as_bytes(std::span(&value, 1));
  call.real_bytes = sizeof value;
  call.type = DataType::kInt32;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    call.result = std::as_writable_bytes(std::span(&sums[rank], 1));
    group.rank(rank).start(call);
    group.finish();
    CHECK(group.rank(0).start(kPause).has_value() == (rank == 1));
  }
}

TEST_CASE("a message of a rank that has not paused is detected") {
  struct Connections final : Mesh {
    bool post(const Transfer& transfer) override {
      transfers.push_back(transfer);
      return true;
    }
    std::vector<Transfer> transfers;
  } connections;
  auto group = group_of(2, 1);
  group.rank(0).start(kPause);
  group.rank(0).post_to(connections);
  REQUIRE(connections.transfers.size() == 1);
  const Transfer& receive = connections.transfers[0];
  const std::uint64_t other = 2;
  std::memcpy(receive.memory.data(), &other, sizeof other);
  group.rank(0).on_done(receive, sizeof other);
  CHECK_THAT(group.rank(0).disagreement(), Contains("reduces other data than this rank"));
}

TEST_CASE("the receives of pauses use part of the staging") {
  auto group = group_of(4, 1);
  CHECK(group.rank(0).staging_needed(kPause) == 4096);
  std::vector<std::byte> memory(100'000);
  Call call;
  call.input = memory;
  const std::size_t alone = Exchange::staging_bytes(Terms{4, 0, 128, 1024}, memory.size());
  CHECK(group.rank(0).staging_needed(call) == alone + 4096);
}

TEST_CASE("messages may go to as many peers at once as the inner algorithm allows") {
  struct Several final : AllReduce {
    std::size_t staging_needed(const Call&) const override { return 0; }
    std::optional<std::uint64_t> start(const Call&) override { return 0; }
    std::size_t peers_at_once() const override { return 3; }
    bool finished(std::uint64_t) const override { return true; }
    void post_to(Mesh&) override {}
    void on_done(const Transfer&, std::size_t, std::span<const ByteRange>) override {}
    bool work() override { return false; }
    bool busy() const override { return false; }
    bool idle() const override { return true; }
    const std::string& disagreement() const override { return none; }
    std::string none;
  };
  std::vector<std::byte> staging(8192);
  const Watched watched(4, 0, staging,
                        [](std::span<std::byte>) { return std::make_unique<Several>(); });
  CHECK(watched.peers_at_once() == 3);
}
