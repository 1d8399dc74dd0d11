#include "core/placement/recv_placing.h"

#include <array>
#include <set>
#include <vector>

#include "catch.h"
#include "core/placement/link_table.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

// Grants what the test grants.
struct QuietCard final : Card {
  PermissionId last = 0;
  std::vector<PermissionId> revoked;
  bool is_device = false;
  bool connects = true;
  wire::LinkPaths usable = wire::LinkPaths::first(4);

  LinkId open_link(const wire::EndpointAddress&, Duration) override { return 1; }
  void close_link(LinkId) override {}
  void widen(LinkId, TrafficClass, std::size_t) override {}
  wire::LinkPaths paths(LinkId, TrafficClass) const override { return usable; }
  std::vector<std::byte> introduction(LinkId) const override { return {}; }
  std::uint32_t introduction_version(LinkId) const override { return 1; }
  bool connect(LinkId, std::span<const std::byte>) override { return connects; }
  Limits limits(LinkId) const override { return {4096, 448}; }
  PermissionId permit(LinkId, std::span<std::byte>) override { return ++last; }
  void revoke(PermissionId id) override { revoked.push_back(id); }
  bool is_device_memory(std::span<const std::byte>) override { return is_device; }
  bool can_place_from(std::span<const std::byte>) override { return true; }
};

struct Receiver {
  QuietCard card;
  LinkTable links;
  RecvPlacing placing{card, links, 7};
  std::vector<std::byte> buffer = std::vector<std::byte>(4 << 20);
  // Only their addresses matter: the streams themselves are not used.
  std::array<std::byte, 2> places{};
  RecvStream& stream(std::size_t index) { return reinterpret_cast<RecvStream&>(places[index]); }

  Receiver() { placing.on_link({}, {}, {}); }
  bool permit(std::size_t stream_index, std::uint64_t message, std::size_t segments) {
    return placing.permit(stream(stream_index), message, 0, std::span(buffer).first(segments << 20),
                          4096);
  }
  void grant(PermissionId id) { placing.on_event({id, PermissionEvent::Kind::kGranted, 1, 1}); }
  // How many permits the sender is told of now.
  std::size_t told() {
    FrameArena arena;
    Channel channel;
    FrameWriter frames(arena, channel);
    const wire::EndpointAddress address;
    std::array<wire::TxPacket, 8> out;
    const std::size_t count =
        placing.poll_transmit({7, &address}, {0, 4, 1400}, false, frames, out);
    std::size_t permits = 0;
    for (const wire::TxPacket& packet : std::span(out).first(count))
      if (const auto frame = wire::decode<wire::Permits>(packet.payload))
        permits += frame->permits.size();
    return permits;
  }
  void end(PermissionId id) { placing.on_event({id, PermissionEvent::Kind::kRevoked}); }
};

}  // namespace

TEST_CASE(
    "an ACK names the newest placed packets of 32 paths, and the next ACK those of the rest") {
  Receiver receiver;
  receiver.permit(0, 0, 1);
  for (wire::PathIndex path = 0; path < 80; ++path)
    receiver.placing.note({.path = path, .name = path, .packets = 1, .arrived_at = {}});
  std::vector<std::size_t> counts;
  bool all = false;
  while (!all) {
    wire::Ack ack;
    all = receiver.placing.report({}, ack);
    counts.push_back(ack.placed.size());
  }
  CHECK(counts == std::vector<std::size_t>{32, 32, 16});
}

TEST_CASE("a message revokes its own permissions, and a stream those of all its messages") {
  Receiver receiver;
  CHECK(receiver.permit(0, 0, 2));
  CHECK(receiver.permit(0, 1, 1));
  CHECK(receiver.permit(1, 0, 1));
  CHECK(receiver.placing.revoke(receiver.stream(0), 0));
  CHECK(receiver.card.revoked == std::vector<PermissionId>{1, 2});
  receiver.end(2);
  receiver.end(1);
  CHECK(receiver.permit(0, 2, 2));  // in the same slots
  CHECK_FALSE(receiver.placing.revoke(receiver.stream(0), 0));
  CHECK(receiver.card.revoked.size() == 2);
  receiver.placing.leave(receiver.stream(0));
  CHECK(std::set(receiver.card.revoked.begin() + 2, receiver.card.revoked.end()) ==
        std::set<PermissionId>{3, 5, 6});
  receiver.end(5);
  receiver.placing.revoke(receiver.stream(1), 0);
  CHECK(receiver.card.revoked.back() == 4);
}

TEST_CASE(
    "after 32 permissions that were not used, one in 32 messages gets some until one is used") {
  Receiver receiver;
  const auto is_permitted = [&](std::uint64_t message) {
    const bool permitted = receiver.permit(0, message, 1);
    receiver.placing.revoke(receiver.stream(0), message);
    return permitted;
  };
  for (std::uint64_t message = 1; message <= 32; ++message)
    CHECK(is_permitted(message));
  CHECK_FALSE(is_permitted(33));
  CHECK(receiver.permit(1, 33, 1));  // another stream
  CHECK_FALSE(is_permitted(63));
  REQUIRE(receiver.permit(0, 64, 1));
  const std::uint16_t slot = 33;  // after 32 and one that are in use
  receiver.placing.note(
      {.name = wire::PlacedName{.slot = slot}.pack(), .packets = 1, .arrived_at = {}});
  receiver.placing.revoke(receiver.stream(0), 64);
  CHECK(is_permitted(65));
}

TEST_CASE("messages in device memory get permissions however few are used") {
  Receiver receiver;
  receiver.card.is_device = true;
  for (std::uint64_t message = 1; message <= 80; ++message) {
    CHECK(receiver.permit(0, message, 1));
    receiver.placing.revoke(receiver.stream(0), message);
  }
}

TEST_CASE(
    "a permission that ends before the sender is told is not sent with the next of its slot") {
  Receiver receiver;
  CHECK(receiver.permit(0, 0, 1));
  receiver.grant(1);
  receiver.placing.revoke(receiver.stream(0), 0);
  receiver.end(1);
  CHECK(receiver.permit(0, 1, 1));  // in the same slot
  CHECK(receiver.told() == 0);
  receiver.grant(2);
  CHECK(receiver.told() == 1);
}

TEST_CASE("the last permission of a message that is decided, and the last that ends, are marked") {
  using Kind = PermissionEvent::Kind;
  Receiver receiver;
  CHECK(receiver.permit(0, 5, 3));
  const auto on_event = [&](PermissionId id, Kind kind) {
    const auto outcome = receiver.placing.on_event({id, kind, 1, 1});
    REQUIRE(outcome);
    CHECK(outcome->use.message == 5);
    return *outcome;
  };
  CHECK_FALSE(on_event(1, Kind::kGranted).all_decided);
  const auto refused = on_event(2, Kind::kRefused);
  CHECK_FALSE(refused.all_decided);
  CHECK(refused.ended);
  CHECK(refused.left == 2);
  const auto last = on_event(3, Kind::kGranted);
  CHECK(last.all_decided);
  CHECK_FALSE(last.ended);
  CHECK(last.left == 2);
  CHECK(receiver.told() == 2);
  CHECK_FALSE(receiver.placing.revoke(receiver.stream(0), 5));  // the sender knows them
  CHECK(on_event(1, Kind::kRevoked).left == 1);
  const auto ended = on_event(3, Kind::kRevoked);
  CHECK_FALSE(ended.all_decided);
  CHECK(ended.ended);
  CHECK(ended.left == 0);
}

TEST_CASE("a link is connected as soon as one of its paths is") {
  QuietCard card;
  LinkTable links;
  RecvPlacing placing(card, links, 7);
  card.connects = false;
  card.usable = {};
  const Time now = time_from_ns(1'000'000'000);
  CHECK(placing.on_link(now, {}, {}));
  CHECK_FALSE(placing.connected());
  card.usable = {0b100};
  CHECK(placing.on_link(now + 3s - 1ns, {}, {}));  // the attempt is not repeated yet
  CHECK_FALSE(placing.connected());
  CHECK(placing.on_link(now + 3s, {}, {}));
  CHECK(placing.connected());
}
