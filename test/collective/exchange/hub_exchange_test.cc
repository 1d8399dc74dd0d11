// Behaviour of hubs that differs from that of ranks in direct exchange. exchange_test checks that
// their sums have the same bits, losses included.
#include "collective/exchange/hub_exchange.h"

#include <cstring>

#include "catch.h"
#include "collective/memory_group.h"

using namespace dlcp;
using namespace dlcp::collective;
using dlcp::test::MemoryGroup;

namespace {

constexpr std::uint32_t kRanks = 4;

Terms terms_with(std::uint32_t hubs) {
  return {.ranks = kRanks, .granule = 128, .block_bytes_max = 1024, .hubs = hubs};
}

struct Floats {
  explicit Floats(std::size_t count) : values(kRanks, std::vector<float>(count, 1.5f)) {}
  // Sums in place.
  Call call(std::uint32_t rank) {
    const auto memory = std::as_writable_bytes(std::span(values[rank]));
    return {.input = memory, .result = memory, .real_bytes = memory.size()};
  }
  std::vector<std::vector<float>> values;
};

void start_on_all(MemoryGroup& group, Floats& floats) {
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    REQUIRE(group.rank(rank).start(floats.call(rank)));
}

// A single hub, and the transfers it has posted.
struct Alone final : Mesh {
  explicit Alone(std::size_t staging_bytes)
      : memory(staging_bytes),
        hub(
            [] {
              Terms terms = terms_with(2);
              terms.rank = kRanks;
              return terms;
            }(),
            memory) {
    hub.post_to(*this);
  }
  bool post(const Transfer& transfer) override {
    posted.push_back(transfer);
    return true;
  }
  void tell(std::uint32_t rank, std::span<const std::byte> word) {
    const auto receive = std::ranges::find_if(posted, [&](const Transfer& each) {
      return each.peer == rank && each.block == Transfer::kNoBlock;
    });
    REQUIRE(receive != posted.end());
    const Transfer found = *receive;
    posted.erase(receive);
    std::memcpy(found.memory.data(), word.data(), word.size());
    hub.on_done(found, word.size());
    hub.post_to(*this);
  }
  void tell(std::uint32_t rank, const HubCall& call) { tell(rank, encode(call)); }

  std::vector<std::byte> memory;
  HubExchange hub;
  std::vector<Transfer> posted;
};

}  // namespace

TEST_CASE("a call of one block sends two messages from each rank to its hub, and one back") {
  Floats floats(1);
  MemoryGroup group(terms_with(3), 10'000, 1);
  start_on_all(group, floats);
  group.finish();
  CHECK(group.messages() == kRanks * 3);
  for (const auto& values : floats.values)
    CHECK(values[0] == 6.0f);
}

TEST_CASE("hubs whose staging is full begin later calls later, and all calls complete") {
  std::deque<Floats> calls;
  MemoryGroup group(terms_with(2), 2 * 1024 * kRanks, 2);  // one call of 4096 bytes
  for (int i = 0; i < 40; ++i) {
    calls.emplace_back(1024);
    start_on_all(group, calls.back());
  }
  group.finish();
  for (const Floats& call : calls)
    for (const auto& values : call.values)
      CHECK(values == std::vector<float>(1024, 6.0f));
  CHECK(group.rank(kRanks).idle());
  const auto& hub = dynamic_cast<HubExchange&>(group.rank(kRanks));
  CHECK(hub.served().calls == 40);
  CHECK(hub.served().bytes == 40u * 2048 * kRanks);
}

TEST_CASE("the hub tells ranks with different calls about the contradiction") {
  Floats floats(1024), shorter(1000);
  MemoryGroup group(terms_with(1), 100'000, 3);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    REQUIRE(group.rank(rank).start((rank == 2 ? shorter : floats).call(rank)));
  try {
    group.finish();
  } catch (const std::runtime_error&) {  // this contradiction also shows as a length that differs
                                         // within a block
  }
  CHECK_THAT(group.rank(kRanks).disagreement(), Contains("of 4000 bytes"));
  CHECK_THAT(group.rank(kRanks).disagreement(), Contains("of 4096 bytes"));
}

TEST_CASE("a hub begins a call at the first rank's message, and only once") {
  Alone alone(100'000);
  CHECK(alone.posted.size() == kRanks);
  alone.tell(3, {.call = 0, .bytes = 256, .real_bytes = 256});
  const auto contributions = std::ranges::count_if(
      alone.posted, [](const Transfer& each) { return each.block != Transfer::kNoBlock; });
  CHECK(contributions == kRanks);
  alone.tell(1, {.call = 0, .bytes = 256, .real_bytes = 256});
  CHECK(alone.posted.size() == kRanks * 2);
  CHECK(alone.hub.disagreement().empty());
  CHECK(alone.hub.busy());
}

TEST_CASE("a rank's next message waits while its call cannot begin") {
  Alone alone(1024 * kRanks);  // for one call
  alone.tell(0, {.call = 0, .bytes = 2048, .real_bytes = 2048});
  alone.tell(0, {.call = 2, .bytes = 2048, .real_bytes = 2048});
  const auto words = std::ranges::count_if(alone.posted, [](const Transfer& each) {
    return each.peer == 0 && each.block == Transfer::kNoBlock;
  });
  CHECK(words == 0);
  CHECK(alone.hub.disagreement().empty());
}

TEST_CASE("ranks leave their hubs once all their calls are complete") {
  Floats floats(4096);
  MemoryGroup group(terms_with(2), 100'000, 4);
  start_on_all(group, floats);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    group.rank(rank).leave();
    CHECK(group.rank(rank).busy());
  }
  group.finish();
  CHECK(floats.values[3][4095] == 6.0f);
  for (std::uint32_t member = 0; member < kRanks + 2; ++member)
    CHECK(group.rank(member).idle());
  for (std::uint32_t hub = kRanks; hub < kRanks + 2; ++hub)
    CHECK(dynamic_cast<HubExchange&>(group.rank(hub)).all_left());
}

TEST_CASE("the others no longer wait for a rank that has left") {
  const HubCall call{.call = 0, .bytes = 256, .real_bytes = 256};
  const auto leaving = encode(HubCall{.leaves = true});
  Alone early(100'000);
  early.tell(1, leaving);
  CHECK_FALSE(early.hub.all_left());
  CHECK(early.hub.idle());
  early.tell(0, call);
  CHECK_THAT(early.hub.disagreement(), Contains("but rank 1 has left"));
  Alone late(100'000);
  late.tell(0, call);
  late.tell(1, leaving);
  CHECK_THAT(late.hub.disagreement(), Contains("rank 1 of the group left, but others"));
}

TEST_CASE("a hub refuses messages that no rank would send") {
  const HubCall good{.call = 6, .bytes = 256, .real_bytes = 256};
  struct Row {
    HubCall call;
    const char* says;
  };
  for (const Row& row : {Row{{.call = 4, .bytes = 256, .real_bytes = 256}, "which is over"},
                         Row{{.call = 7, .bytes = 64, .real_bytes = 64}, "does not use this hub"},
                         Row{{.call = 8, .bytes = 1 << 20}, "the group's hubs have 100000"},
                         Row{{.call = 8, .bytes = HubCall::kCallBytesMax}, "have 100000"}}) {
    Alone alone(100'000);
    alone.tell(0, good);
    alone.tell(0, row.call);
    CHECK_THAT(alone.hub.disagreement(), Contains(row.says));
  }
  Alone alone(100'000);
  alone.tell(2, std::vector<std::byte>(HubCall::kBytes, std::byte{7}));
  CHECK_THAT(alone.hub.disagreement(), Contains("rank 2 of the group sent its hub 40 bytes"));
}

TEST_CASE("a call's description survives encoding and decoding, and nothing else decodes") {
  const HubCall call{1ull << 40, 96, 92, 17, DataType::kBfloat16, ReduceOp::kMin};
  const auto read = decode_hub_call(encode(call));
  REQUIRE(read);
  CHECK(read->same_call(call));
  CHECK(read->real_bytes == 92);
  CHECK(read->tensor == 17);
  for (const HubCall& bad :
       {HubCall{.bytes = 0}, HubCall{.bytes = 6, .real_bytes = 6},
        HubCall{.bytes = 8, .real_bytes = 12}, HubCall{.bytes = HubCall::kCallBytesMax + 4},
        HubCall{.bytes = 8, .tensor = 2}, HubCall{.bytes = 8, .type = DataType{10}},
        HubCall{.bytes = 8, .op = ReduceOp{4}}})
    CHECK_FALSE(decode_hub_call(encode(bad)));
  const auto bytes = encode(call);
  CHECK_FALSE(decode_hub_call(std::span(bytes).first(39)));
}
