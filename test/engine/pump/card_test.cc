// Two engines over a fake RDMA card that places data: the whole way from posted receives to the
// end of a request, on a network that loses, doubles, reorders and delays packets.
#include <algorithm>
#include <memory>

#include "card_side.h"
#include "catch.h"
#include "engine/host/clock.h"

using namespace dlcp;
using namespace dlcp::engine;
using core::Counter;
using datapath::PermissionKind;
using datapath::PlacementTransport;
using datapath::test::FakeWriteCard;
using dlcp::test::CardPair;

namespace {

constexpr std::size_t kMessageBytes = 100'000;
constexpr std::byte kCanary{0xc5};

struct Pair : CardPair {
  Pair(PermissionKind sender, PermissionKind receiver,
       PlacementTransport transport = PlacementTransport::kUc)
      : CardPair(sender, receiver, {}, transport) {
    a.engine->register_memory(*sends, memory(out));
    b.engine->register_memory(*receives, memory(in));
  }
  static Memory memory(std::vector<std::byte>& of) { return {of.data(), of.size(), &of}; }
  Request* post_receive() { return b.engine->receive(*receives, memory(in)).value(); }
  // Sends a message of other content each time, and returns when both ends are done.
  void transfer(Request* receiving, std::size_t bytes = kMessageBytes) {
    for (std::byte& byte : out)
      byte = static_cast<std::byte>(rng.next());
    Request* sending = a.engine->send(*sends, {out.data(), bytes, &out}).value();
    Request::Outcome outcome;
    auto received = Request::State::kPending;
    auto sent = Request::State::kPending;
    for (const Time end = steady_now() + 20s;
         (received == Request::State::kPending || sent == Request::State::kPending) &&
         steady_now() < end;) {
      step();
      if (received == Request::State::kPending) {
        received = b.engine->test(*receiving, outcome);
        if (received == Request::State::kDone) {
          REQUIRE(
              std::equal(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(bytes), out.begin()));
          std::ranges::fill(in, kCanary);  // the application uses the buffer again
        }
      }
      if (sent == Request::State::kPending) sent = a.engine->test(*sending, outcome);
    }
    REQUIRE(received == Request::State::kDone);
    REQUIRE(sent == Request::State::kDone);
  }
  void check_canary() {
    REQUIRE(std::ranges::all_of(
        in, [](std::byte byte) { return byte == kCanary; }));
  }
  // Afterwards the next message can be placed.
  void warm_up() {
    for (int i = 0; i < 3; ++i) {
      transfer(post_receive());
      run_for(5ms);
    }
  }
  std::uint64_t placed() const { return b.count_of("bytes_placed_by_nic"); }

  Rng rng{3};
  std::vector<std::byte> out = std::vector<std::byte>(kMessageBytes);
  std::vector<std::byte> in = std::vector<std::byte>(kMessageBytes);
};

}  // namespace

TEST_CASE("the card writes messages of two engines into the posted buffers") {
  const auto permissions = GENERATE(PermissionKind::kWindow, PermissionKind::kRegion);
  const auto transport = GENERATE(PlacementTransport::kUc, PlacementTransport::kRc);
  Pair pair(permissions, permissions, transport);
  pair.warm_up();
  const std::uint64_t before = pair.placed();
  const auto counted = pair.b.engine->counters()[Counter::kBytesCopied];
  for (int i = 0; i < 10; ++i) {
    Request* const receiving = pair.post_receive();
    pair.run_for(2ms);  // PERMITS arrives before the message is sent
    pair.transfer(receiving);
  }
  CHECK(pair.placed() - before == 10 * kMessageBytes);
  CHECK(pair.b.engine->counters()[Counter::kBytesCopied] == counted);
  CHECK(pair.a.count_of("placed_tx_bytes") == pair.placed());
  CHECK(pair.a.engine->counters()[Counter::kPacketsRetransmitted] == 0);
}

TEST_CASE("the sender's log tells once that the peer's card places the data") {
  Pair pair(PermissionKind::kRegion, PermissionKind::kRegion);
  pair.warm_up();
  CHECK(pair.a.lines ==
        std::vector<std::string>{"data to 10.0.0.2 is placed by its card, over 4 queue pairs"});
  CHECK(pair.b.lines.empty());
}

TEST_CASE("the sender's log tells that the peer copies the data, because its card places nothing") {
  Pair pair(PermissionKind::kRegion, PermissionKind::kNone);
  for (const Time end = steady_now() + 20s; pair.a.lines.empty() && steady_now() < end;)
    pair.run_for(10ms);
  REQUIRE(pair.a.lines.size() == 1);
  CHECK(
      pair.a.lines.front() ==
      "data to 10.0.0.2 is copied by its processor, because it has not answered LINK for 2 s: its "
      "card places nothing (see its log), or its host is very busy");
  CHECK(pair.b.lines.empty());
}

TEST_CASE("messages shorter than the buffer arrive, placed or not") {
  Pair pair(PermissionKind::kWindow, PermissionKind::kWindow);
  pair.warm_up();
  for (const std::size_t bytes : {1, 3967, 3968, 3969, 20'000, 99'999}) {
    Request* const receiving = pair.post_receive();
    pair.run_for(2ms);
    pair.transfer(receiving, bytes);
    pair.check_canary();
  }
  CHECK(pair.b.count_of("permissions_granted") == pair.b.count_of("permissions_revoked"));
}

namespace {

// Transfers messages over a card that loses, doubles and reorders packets, and delays the share
// `late` of them.
void place_over_faults(Pair& pair, PermissionKind permissions, double late) {
  pair.card->reuses_keys = permissions == PermissionKind::kRegion;
  pair.warm_up();
  pair.card->loss = 0.02;
  pair.card->doubled = 0.05;
  pair.card->late = late;
  pair.card->reordering = 20;
  pair.card->copy_steps = 5;
  const std::uint64_t before = pair.placed();
  for (int i = 0; i < 50; ++i) {
    pair.transfer(pair.post_receive());
    pair.run_for(pair.rng.chance(0.5) ? 2ms : 0ms);  // late packets arrive
    pair.check_canary();
  }
  CHECK(pair.placed() > before);
}

}  // namespace

TEST_CASE("no byte changes after a receive is done, whatever the network does") {
  const auto permissions = GENERATE(PermissionKind::kWindow, PermissionKind::kRegion);
  Pair pair(permissions, permissions);
  place_over_faults(pair, permissions, 0.05);
  CHECK(pair.card->dead_keys > 0);
}

TEST_CASE("over RC the card repeats what is lost, and no byte changes after a receive is done") {
  const auto permissions = GENERATE(PermissionKind::kWindow, PermissionKind::kRegion);
  Pair pair(permissions, permissions, PlacementTransport::kRc);
  place_over_faults(pair, permissions, 0);
  CHECK(pair.card->repeats > 0);
  CHECK(pair.card->dead_keys == 0);
}

TEST_CASE("over RC a path that fails is used again after another exchange of LINK") {
  Pair pair(PermissionKind::kRegion, PermissionKind::kRegion, PlacementTransport::kRc);
  pair.warm_up();
  Request* const first = pair.post_receive();
  pair.run_for(2ms);  // PERMITS arrives
  pair.card->repeats_max = 2;
  pair.card->loss = 1;
  pair.transfer(first);
  pair.card->loss = 0;
  pair.run_for(500ms);
  CHECK(pair.a.count_of("placement_queue_pairs_reset") > 0);
  pair.warm_up();
  const std::uint64_t before = pair.placed();
  Request* const receiving = pair.post_receive();
  pair.run_for(2ms);
  pair.transfer(receiving);
  CHECK(pair.placed() - before == kMessageBytes);
}

TEST_CASE("if only one end places data, messages are copied") {
  const auto [sender, receiver] =
      GENERATE(std::pair(PermissionKind::kWindow, PermissionKind::kNone),
               std::pair(PermissionKind::kNone, PermissionKind::kWindow));
  Pair pair(sender, receiver);
  pair.warm_up();
  pair.transfer(pair.post_receive());
  CHECK(pair.card->written == 0);
  CHECK(pair.b.engine->counters()[Counter::kBytesCopied] == 4 * kMessageBytes);
}

TEST_CASE("if placed packets no longer arrive, ordinary ones are used") {
  Pair pair(PermissionKind::kWindow, PermissionKind::kWindow);
  pair.warm_up();
  REQUIRE(pair.placed() > 0);
  pair.card->loss = 1;
  const std::uint64_t sent = pair.a.count_of("placed_tx_packets");
  const int messages = 200;  // of 26 packets
  for (int i = 0; i < messages; ++i)
    pair.transfer(pair.post_receive());
  CHECK(pair.a.count_of("placed_tx_packets") - sent <= 4096);
}

TEST_CASE("the end of a connection or registration revokes the permissions of posted receives") {
  const auto permissions = GENERATE(PermissionKind::kWindow, PermissionKind::kRegion);
  const bool close = GENERATE(false, true);
  Pair pair(permissions, permissions);
  pair.warm_up();
  pair.post_receive();
  pair.run_for(2ms);
  REQUIRE(pair.b.count_of("permissions_granted") == pair.b.count_of("permissions_revoked") + 1);
  if (close)
    pair.b.engine->close(pair.receives);
  else
    pair.b.engine->release_memory(*pair.receives, Pair::memory(pair.in));
  pair.run_for(2ms);
  CHECK(pair.b.count_of("permissions_granted") == pair.b.count_of("permissions_revoked"));
}
