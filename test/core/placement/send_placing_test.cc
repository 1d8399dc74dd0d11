#include "core/placement/send_placing.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr std::uint32_t kChunkBytes = 4096;
constexpr std::uint32_t kSegmentChunks = wire::PlacedName::kSegmentChunks;

// A card whose link can be used at once.
struct ReadyCard final : Card {
  bool can_read = true;
  wire::LinkPaths usable = wire::LinkPaths::first(4);
  bool awaits = false;
  bool connects = true;

  LinkId open_link(const wire::EndpointAddress&, Duration) override { return 1; }
  void close_link(LinkId) override {}
  void widen(LinkId, TrafficClass, std::size_t) override {}
  wire::LinkPaths paths(LinkId, TrafficClass) const override { return usable; }
  bool awaits_peer(LinkId) const override { return awaits; }
  std::vector<std::byte> introduction(LinkId) const override { return {}; }
  std::uint32_t introduction_version(LinkId) const override { return version; }
  bool connect(LinkId, std::span<const std::byte>) override { return connects; }
  std::uint32_t payload_bytes_max = kChunkBytes;
  bool is_reliable = false;
  std::uint32_t version = 1;
  std::vector<std::uint32_t> failed = std::vector<std::uint32_t>(16);
  Limits limits(LinkId) const override { return {payload_bytes_max, 448, is_reliable}; }
  std::uint32_t failures(LinkId, TrafficClass, wire::PathIndex path) const override {
    return failed[path];
  }
  PermissionId permit(LinkId, std::span<std::byte>) override { return 0; }
  void revoke(PermissionId) override {}
  bool can_place_from(std::span<const std::byte>) override { return can_read; }
  std::vector<std::string> reasons;
  void copies(const wire::EndpointAddress&, std::string_view why) override {
    reasons.emplace_back(why);
  }
};

// The sender of message 0 of stream 0, with three segments.
struct Sender {
  ReadyCard card;
  Time now = time_from_ns(1'000'000'000);
  SendPlacing placing{now, card, wire::EndpointAddress{}, 16, 1ms};
  Flight flight{16};
  std::vector<std::byte> message = std::vector<std::byte>(3 * kSegmentChunks * kChunkBytes);

  Sender() { placing.on_link(now, wire::Link{}, flight); }
  void permit(std::uint16_t segment) {
    wire::Permit permit;
    permit.segment = permit.slot = segment;
    permit.generation = 1;
    permit.address = 0x10000;
    permit.bytes = kSegmentChunks * kChunkBytes;
    placing.on_permit(permit, 0);
  }
  std::size_t run(std::uint32_t chunk) {
    return placing.ordinary_run(now, {0, chunk, 0}, kChunkBytes);
  }
  std::optional<SendPlacing::Way> way(std::uint32_t chunk) {
    return placing.way(now, flight, {0, chunk, 0}, TrafficClass::kExact, message, kChunkBytes, 6);
  }
};

}  // namespace

TEST_CASE("chunks without a permission travel in runs that end with their segment") {
  Sender sender;
  CHECK(sender.run(0) == 256);
  CHECK(sender.run(255) == 1);
  CHECK(sender.run(300) == 212);
  sender.permit(1);
  CHECK(sender.run(250) == 6);
  CHECK(sender.run(256) == 1);
  CHECK(sender.run(511) == 1);
  CHECK(sender.run(512) == 256);
  sender.permit(0);
  CHECK(sender.run(0) == 1);
}

TEST_CASE("a chunk whose segment has a permission has a way to its place in the segment") {
  Sender sender;
  CHECK_FALSE(sender.way(300));
  sender.permit(1);
  CHECK_FALSE(sender.way(0));
  const auto way = sender.way(300);
  REQUIRE(way);
  CHECK(way->target.address == 0x10000 + 44 * kChunkBytes);
  CHECK(way->name == wire::PlacedName{1, 1, 44});
  CHECK(way->path == 2);
}

TEST_CASE("a way holds for the chunks up to the end of segment, message and room in flight") {
  Sender sender;
  sender.permit(0);
  sender.permit(1);
  const auto packets = [&](std::uint32_t chunk) {
    const auto way = sender.way(chunk);
    return way ? way->packets : 0;
  };
  CHECK(packets(0) == 256);
  CHECK(packets(250) == 6);
  CHECK(packets(256) == 256);
  CHECK(packets(511) == 1);
  sender.flight.on_sent(sender.now, 2, {}, Flight::Carried::kChunk, 400);
  CHECK(packets(0) == 48);  // the peer's card holds 448 on a path
  sender.message.resize(300 * kChunkBytes + 1);
  CHECK(packets(280) == 21);
  CHECK(packets(300) == 1);
}

TEST_CASE("a burst of chunks with a permission is offered the paths of the link") {
  Sender sender;
  sender.permit(1);
  const auto count = [&](std::uint32_t chunk) {
    return sender.placing.paths_for(sender.now, sender.flight, {0, chunk, 0}).size();
  };
  CHECK(count(0) == 0);
  CHECK(count(300) == 4);
  sender.flight.on_sent(sender.now, 2, {}, Flight::Carried::kChunk,
                        448);  // as many as the peer's card holds
  CHECK(count(300) == 3);
  sender.card.can_read = false;
  CHECK_FALSE(sender.way(300));
  CHECK(count(300) == 0);
}

TEST_CASE("a message that the card cannot read travels in ordinary runs despite a permission") {
  Sender sender;
  sender.card.can_read = false;
  sender.permit(0);
  CHECK(sender.run(0) == 1);  // not known yet
  CHECK_FALSE(sender.way(0));
  CHECK(sender.run(0) == 256);
}

TEST_CASE("a path with as many packets in flight as the peer's card can hold has no way") {
  Sender sender;
  sender.permit(0);
  sender.flight.on_sent(sender.now, 2, {}, Flight::Carried::kChunk, 447);
  CHECK(sender.way(0));
  sender.flight.on_sent(sender.now, 2, {});
  CHECK_FALSE(sender.way(0));
}

TEST_CASE("one in 2^24 packets of a path is an ordinary one, which tells the receiver the number") {
  Sender sender;
  sender.permit(0);
  const auto send = [&](std::size_t count) {
    sender.now += 1ms;
    const auto number =
        sender.flight.on_sent(sender.now, 2, {}, Flight::Carried::kChunk, count) + count - 1;
    sender.flight.on_report(sender.now, 2, static_cast<std::uint32_t>(number), sender.now);
    std::vector<Flight::Loss> losses;
    const auto all_acked = [](const ChunkRef&) -> const Bitmap* { return nullptr; };
    sender.flight.find_losses(sender.now + 1us, {}, all_acked, losses);
  };
  for (int i = 0; i < 255; ++i)
    send(1 << 16);
  send((1 << 16) - 2);
  CHECK(sender.way(0));
  send(1);
  CHECK_FALSE(sender.way(0));
  send(1);
  CHECK(sender.way(0));
}

TEST_CASE("paths that fail are not used after the next acknowledgement, until they work again") {
  Sender sender;
  sender.permit(0);
  const auto path_after_ack = [&](std::uint64_t usable) -> int {
    sender.card.usable = {usable};
    wire::Ack ack;
    (void)sender.placing.resolve(sender.now, sender.flight, ack);
    const auto way = sender.way(0);
    return way ? way->path : -1;
  };
  CHECK(path_after_ack(0b1111) == 2);
  CHECK(path_after_ack(0b1) == 0);
  CHECK(path_after_ack(0) == -1);
  CHECK(path_after_ack(0b1111) == 2);
  // A path that fails does not affect those behind it.
  CHECK(path_after_ack(0b1000000) == 6);
  CHECK(path_after_ack(0b1001010) == 6);
  CHECK(path_after_ack(0b0001010) == 1);
}

TEST_CASE(
    "messages travel in ordinary runs despite a permission if the card cannot place packets") {
  Sender sender;
  sender.permit(0);
  CHECK(sender.run(0) == 1);
  sender.card.usable = {};
  sender.placing.on_link(sender.now, {}, sender.flight);
  CHECK(sender.run(0) == 256);
  sender.card.usable = wire::LinkPaths::first(4);
  sender.card.payload_bytes_max = 1024;
  sender.placing.on_link(sender.now, {}, sender.flight);
  CHECK(sender.run(0) == 256);
}

TEST_CASE("if no acknowledgement names a placed packet, one is tried each second until one does") {
  Sender sender;
  sender.permit(0);
  for (std::size_t i = 0; i < 256; ++i) {
    CHECK(sender.run(0) == 1);
    REQUIRE(sender.way(0));
    CHECK(sender.way(0)->packets == 256 - i);
    sender.placing.on_sent(sender.now, 1);
  }
  CHECK(sender.run(0) == 256);
  CHECK_FALSE(sender.way(0));
  sender.now += 1s;
  CHECK(sender.run(0) == 1);
  REQUIRE(sender.way(0));
  CHECK(sender.way(0)->packets == 1);
  sender.placing.on_sent(sender.now, 1);
  CHECK(sender.run(0) == 256);
  wire::Ack ack;
  ack.placed.push_back({2, wire::PlacedName{.slot = 0, .generation = 1}.pack(), 0});
  (void)sender.placing.resolve(sender.now, sender.flight, ack);
  CHECK(sender.run(0) == 1);
}

TEST_CASE(
    "over a reliable link a failed path loses its packets, and the peer is told of its next") {
  Sender sender;
  sender.card.is_reliable = true;
  (void)sender.placing.take_link(sender.now, 1);
  sender.placing.on_link(sender.now, {}, sender.flight);
  CHECK(sender.placing.next_timeout() == kNever);
  sender.permit(0);
  REQUIRE(sender.way(0));
  sender.placing.on_sent(sender.now, 1);
  sender.flight.on_sent(sender.now, 2, {0, 0, 0}, Flight::Carried::kByReliableCard);
  // Paths are looked at although no acknowledgement arrives.
  CHECK(sender.placing.next_timeout() == sender.now + 10ms);
  sender.now += 10ms;
  sender.placing.on_timeout(sender.now, sender.flight);
  CHECK(sender.flight.deadline() == kNever);
  CHECK(sender.placing.next_timeout() == sender.now + 10ms);
  sender.card.failed[2] = 1;
  sender.card.usable = {0b11};
  sender.card.awaits = true;
  sender.card.version = 2;
  sender.now += 10ms;
  sender.placing.on_timeout(sender.now, sender.flight);
  CHECK(sender.flight.deadline() == sender.now);
  CHECK(sender.placing.link_due(sender.now));
  CHECK(sender.way(0)->path == 0);
  // LINK is repeated until no path waits for the peer.
  (void)sender.placing.take_link(sender.now, 1);
  sender.placing.on_link(sender.now, {}, sender.flight);
  CHECK(sender.placing.next_timeout() < sender.now + 20ms);
  for (int i = 0; i < 20; ++i) {
    sender.now += 10s;
    CHECK(sender.placing.link_due(sender.now));
    (void)sender.placing.take_link(sender.now, 1);
  }
  sender.card.usable = wire::LinkPaths::first(4);
  sender.card.awaits = false;
  sender.placing.on_link(sender.now, {}, sender.flight);
  CHECK_FALSE(sender.placing.link_due(sender.now + 1h));
}

TEST_CASE("LINK is repeated without end, and the reason for copies is reported once, after 2 s") {
  ReadyCard card;
  const Time start = time_from_ns(1'000'000'000);
  SendPlacing placing{start, card, wire::EndpointAddress{}, 16, 1ms};
  Time now = start;
  const auto pause = [&] {
    (void)placing.take_link(now, 1);
    const Duration paused = placing.next_timeout() - now;
    now = placing.next_timeout();
    return paused;
  };
  Duration last = pause();
  CHECK(last == 1ms);
  for (int tries = 2; tries <= 11; ++tries) {
    const Duration next = pause();
    CHECK(next == 2 * last);
    last = next;
  }
  CHECK(card.reasons.empty());
  pause();
  CHECK(now - start < 5s);
  CHECK(card.reasons.size() == 1);
  for (int tries = 0; tries < 10; ++tries)
    last = pause();
  CHECK(last == 64s);
  CHECK(card.reasons.size() == 1);
  Flight flight{16};
  placing.on_link(now, {}, flight);
  CHECK(placing.works());
  CHECK(placing.next_timeout() == kNever);
}

TEST_CASE("no reason for copies is reported if LINK is answered") {
  Sender sender;
  for (int i = 0; i < 20; ++i)
    (void)sender.placing.take_link(sender.now, 1);
  CHECK(sender.card.reasons.empty());
}

TEST_CASE("LINK is not repeated for paths that the link does not have any more") {
  Sender sender;
  sender.card.is_reliable = true;
  sender.placing.on_link(sender.now, {}, sender.flight);
  sender.card.usable = {0b11};  // the card could not repair the others
  sender.card.version = 2;
  (void)sender.placing.take_link(sender.now, 1);
  sender.placing.on_link(sender.now, {}, sender.flight);
  CHECK_FALSE(sender.placing.link_due(sender.now + 1h));
}

TEST_CASE("a failed attempt to connect is repeated after pauses that grow from 4 s to 64 s") {
  for (const bool is_reliable : {false, true}) {
    CAPTURE(is_reliable);
    Sender sender;
    sender.card.is_reliable = is_reliable;
    sender.card.connects = false;
    sender.card.usable = {};
    std::vector<Duration> pauses;
    for (int attempt = 0; attempt < 8; ++attempt) {
      sender.card.version += 1;  // an attempt may have replaced queue pairs
      sender.placing.on_link(sender.now, {}, sender.flight);
      const Time next = sender.placing.next_timeout();
      CHECK_FALSE(sender.placing.link_due(next - 1ns));
      pauses.push_back(next - sender.now);
      sender.placing.on_link(sender.now, {}, sender.flight);  // another answer to the same LINK
      CHECK(sender.placing.next_timeout() == next);
      sender.now = next;
      (void)sender.placing.take_link(sender.now, 1);
    }
    CHECK(pauses == std::vector<Duration>{4s, 8s, 16s, 32s, 64s, 64s, 64s, 64s});
    sender.card.connects = true;
    sender.card.usable = wire::LinkPaths::first(4);
    sender.placing.on_link(sender.now, {}, sender.flight);
    CHECK_FALSE(sender.placing.link_due(sender.now + 1h));
    sender.permit(0);
    CHECK(sender.way(0));
  }
}

TEST_CASE("the paths that could be connected are used while the others are tried again") {
  Sender sender;
  sender.permit(0);
  sender.card.connects = false;
  sender.card.usable = {0b10};
  sender.placing.on_link(sender.now, {}, sender.flight);
  REQUIRE(sender.way(0));
  CHECK(sender.way(0)->path == 1);
  CHECK(sender.placing.next_timeout() == sender.now + 4s);
}
