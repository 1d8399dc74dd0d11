// Links and placed packets over a fake card: which queue pairs exist, what arrives where, what it
// costs in doorbells and completions, and what happens when queues are full or break.
#include <poll.h>

#include <set>

#include "datapath/verbs/placement/links/introduction.h"
#include "placer_pair.h"

namespace dlcp::datapath::test {
namespace {

bool same(std::span<const std::byte> one, std::span<const std::byte> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

TEST_CASE("a datapath places packets only if its options have the ability") {
  const auto card = std::make_shared<FakeWriteCard>();
  auto options = placing_options("10.0.0.1", PermissionKind::kNone);
  CHECK(VerbsDatapath::open(card, options).value()->placer() == nullptr);
  options.placement.permissions = PermissionKind::kRegion;
  options.placement.transport = PlacementTransport::kNone;
  CHECK(VerbsDatapath::open(card, options).value()->placer() == nullptr);
}

TEST_CASE("packets are written to the peer's memory and reported in runs, without a copy") {
  Pair pair(PermissionKind::kRegion, GENERATE(PlacementTransport::kUc, PlacementTransport::kRc));
  pair.connect();
  const Permission to = pair.permit(pair.b.piece(10, 8));
  CHECK(pair.place(to, 0, 4, 0) == 4);
  CHECK(pair.place(to, 4, 4, 1) == 4);
  const auto runs = pair.placed();
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].way == LinkPath{pair.b.link, TrafficClass::kExact, 0});
  CHECK(runs[0].first == PlacedIndex{5, 1, 0});
  CHECK(runs[0].packets == 4);
  CHECK(runs[0].bytes == 4 * kPacketBytes);
  CHECK(runs[0].arrived_at == pair.now);
  CHECK(runs[1].way.path == 1);
  CHECK(runs[1].first.index == 4);
  CHECK(same(pair.b.piece(10, 8), pair.a.piece(0, 8)));
  CHECK(pair.b.count_of("bytes_placed_by_nic") == 8 * kPacketBytes);
  CHECK(pair.a.count_of("placed_tx_packets") == 8);
}

TEST_CASE("a burst costs one doorbell and one completion") {
  Pair pair;
  pair.connect();
  const Permission to = pair.permit(pair.b.piece(0, 64));
  const std::size_t posts = pair.card->posts;
  CHECK(pair.place(to, 0, 32) == 32);
  CHECK(pair.card->posts == posts + 1);
  CHECK_FALSE(pair.a.datapath->reads(pair.a.piece(0, 32)));
  CHECK(pair.a.count_of("placed_tx_completions") == 1);
}

TEST_CASE("queue pairs are created when they are asked for, and on the peer's side too") {
  Pair pair;
  pair.open_links();
  CHECK(pair.card->connected_numbers().empty());
  CHECK(pair.a.placer().paths(pair.a.link, TrafficClass::kExact).count() == 0);
  const auto version = pair.a.placer().introduction_version(pair.a.link);
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kExact, 2).ok());
  CHECK(pair.a.placer().introduction_version(pair.a.link) != version);
  REQUIRE(
      pair.b.placer().connect(pair.b.link, pair.a.placer().introduction(pair.a.link).view()).ok());
  CHECK(pair.card->connected_numbers().size() == 2);
  // Side a is not connected yet, so that b must not send.
  CHECK(pair.b.placer().paths(pair.b.link, TrafficClass::kExact).count() == 0);
  REQUIRE(
      pair.a.placer().connect(pair.a.link, pair.b.placer().introduction(pair.b.link).view()).ok());
  CHECK(pair.a.placer().paths(pair.a.link, TrafficClass::kExact).count() == 2);
  CHECK(pair.b.placer().paths(pair.b.link, TrafficClass::kExact).count() == 0);
  REQUIRE(
      pair.b.placer().connect(pair.b.link, pair.a.placer().introduction(pair.a.link).view()).ok());
  CHECK(pair.b.placer().paths(pair.b.link, TrafficClass::kExact).count() == 2);
  REQUIRE(pair.b.placer().widen(pair.b.link, TrafficClass::kBulkDroppable, 3).ok());
  pair.introduce();
  CHECK(pair.a.placer().paths(pair.a.link, TrafficClass::kBulkDroppable).count() == 3);
  CHECK(pair.a.placer().link_limits(pair.a.link).payload_bytes_max == kPacketBytes);
  CHECK(pair.a.placer().link_limits(pair.a.link).packets_per_path_max == 128);
}

TEST_CASE("each path has a flow label of its own, and each class its DSCP") {
  Pair pair;
  pair.open_links();
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kExact, 16).ok());
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kBulkDroppable, 4).ok());
  pair.introduce();
  std::set<std::uint16_t> ports;
  std::set<int> marks;
  for (const ibv_qp_attr& attributes : pair.card->ready) {
    if (attributes.ah_attr.grh.dgid.raw[15] != 2) continue;  // it does not lead to side b
    ports.insert(source_port_of_label(attributes.ah_attr.grh.flow_label));
    marks.insert(attributes.ah_attr.grh.traffic_class);
    CHECK(attributes.path_mtu == IBV_MTU_1024);
  }
  CHECK(ports.size() == 16);
  CHECK(marks == std::set<int>{default_tos()[1], default_tos()[6]});
}

TEST_CASE("an old introduction changes nothing, and a contradictory one is refused") {
  Pair pair;
  pair.open_links();
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kExact, 1).ok());
  const Introduction old = pair.a.placer().introduction(pair.a.link);
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kExact, 4).ok());
  pair.introduce();
  CHECK(pair.b.placer().connect(pair.b.link, old.view()).ok());
  CHECK(pair.b.placer().paths(pair.b.link, TrafficClass::kExact).count() == 4);
  CHECK_FALSE(
      pair.b.placer().connect(pair.b.link, pair.b.placer().introduction(pair.b.link).view()).ok());
  CHECK_FALSE(pair.b.placer().connect(pair.b.link, {}).ok());
}

TEST_CASE("sides with different types of queue pairs do not connect") {
  Pair pair;
  pair.open_links();
  LinkDescription other;
  other.transport = PlacementTransport::kRc;
  other.mtu = 3;
  other.receives_per_path = 8;
  other.classes[1] = {{99, false}};
  CHECK_FALSE(pair.a.placer().connect(pair.a.link, encode(other).view()).ok());
}

TEST_CASE("a smaller MTU of the peer limits the packets of the link") {
  Pair pair;
  pair.card->mtu = IBV_MTU_4096;
  Side c(pair.card, placing_options("10.0.0.3", PermissionKind::kRegion));
  c.link = c.placer().open_link(pair.b.datapath->local_address(), {}).value();
  pair.b.link = pair.b.placer().open_link(c.datapath->local_address(), {}).value();
  REQUIRE(c.placer().widen(c.link, TrafficClass::kExact, 1).ok());
  for (int i = 0; i < 2; ++i) {
    REQUIRE(pair.b.placer().connect(pair.b.link, c.placer().introduction(c.link).view()).ok());
    REQUIRE(c.placer().connect(c.link, pair.b.placer().introduction(pair.b.link).view()).ok());
  }
  CHECK(c.placer().link_limits(c.link).payload_bytes_max == 1024);
  PlacedPacket large;
  large.way = {c.link, TrafficClass::kExact, 0};
  large.payload = c.piece(0, 2);
  CHECK(c.placer().place(std::span(&large, 1)) == 1);
  CHECK(c.count_of("placed_tx_lost") == 1);
  CHECK(c.count_of("placed_tx_packets") == 0);
}

TEST_CASE("the first peers get more queue pairs of a device than late ones, which get two") {
  const auto card = std::make_shared<FakeWriteCard>();
  Side side(card, placing_options("10.0.0.1", PermissionKind::kRegion));
  std::vector<LinkId> links;
  std::size_t total = 0;
  for (int peer = 0; peer < 1030; ++peer) {
    const auto link = side.placer().open_link(side.datapath->local_address(), {});
    if (!link) {
      CHECK_THAT(link.error().what, Contains("no room for the queue pairs of another peer"));
      break;
    }
    REQUIRE(side.placer().widen(link.value(), TrafficClass::kExact, 16).ok());
    const auto paths =
        decode_introduction(side.placer().introduction(link.value()).view())->classes[1].size();
    CHECK(paths >= 2);
    CHECK(paths <= 16);
    total += paths;
    links.push_back(link.value());
  }
  CHECK(links.size() == 64 + 512);
  CHECK(total == 2048);
  CHECK(card->queue_pairs() <= 2048 + 5);
  for (const LinkId link : links)
    side.placer().close_link(link);
  CHECK(card->queue_pairs() <= 5);
  CHECK(side.placer().open_link(side.datapath->local_address(), {}).ok());
}

TEST_CASE("a full queue loses packets, so that packets for other peers do not wait") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 256));
  pair.card->holds_completions = true;
  CHECK(pair.place(to, 0, 200) == 200);
  CHECK(pair.a.count_of("placed_tx_packets") == 128);
  CHECK(pair.a.count_of("placed_tx_lost") == 72);
  CHECK(pair.a.count_of("placed_tx_queue_full") == 72);
  CHECK(pair.a.datapath->reads(pair.a.piece(0, 1)));
  CHECK_FALSE(pair.a.datapath->reads(pair.a.piece(128, 72)));
  pair.card->holds_completions = false;
  CHECK(pair.place(to, 128, 32) == 32);
  pair.placed();
  CHECK_FALSE(pair.a.datapath->reads(pair.a.memory));
  CHECK(pair.a.count_of("placed_tx_packets") == 160);
}

TEST_CASE("over RC a full queue does not keep packets for other peers waiting: its path fails") {
  Pair pair(PermissionKind::kRegion, PlacementTransport::kRc);
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 256));
  const LinkLimits limits = pair.a.placer().link_limits(pair.a.link);
  CHECK(limits.is_reliable);
  CHECK(limits.packets_per_path_max == 64);
  pair.card->holds_completions = true;
  CHECK(pair.place(to, 0, 200) == 200);
  CHECK(pair.a.count_of("placed_tx_packets") == 128);
  CHECK(pair.a.count_of("placed_tx_lost") == 72);
  CHECK(pair.a.placer().failures(pair.a.link, TrafficClass::kExact, 0) == 1);
}

TEST_CASE("queue pairs with many packets do not keep those of another completion queue waiting") {
  Pair pair;
  pair.open_links();
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kExact, 16).ok());
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kBulkProtected, 16).ok());
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kBulkDroppable, 1).ok());
  pair.introduce();
  const Permission to = pair.permit(pair.b.piece(0, 64));
  PlacedPacket other = pair.packet(to, 63);
  other.way.traffic_class = TrafficClass::kBulkDroppable;
  REQUIRE(pair.a.placer().place({&other, 1}) == 1);
  bool has_arrived = false;
  std::vector<PlacedRun> runs(4);
  for (int round = 0; round < 3; ++round) {
    for (wire::PathIndex path = 0; path < 8; ++path)
      REQUIRE(pair.place(to, path, 1, path) == 1);
    const std::size_t count = pair.b.placer().placed(pair.now, runs);
    for (std::size_t i = 0; i < count; ++i)
      has_arrived = has_arrived || runs[i].way.traffic_class == TrafficClass::kBulkDroppable;
  }
  CHECK(has_arrived);
}

TEST_CASE("receives are posted again before a path runs out of them") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  for (int round = 0; round < 40; ++round) {
    REQUIRE(pair.place(to, 0, 64) == 64);
    std::size_t packets = 0;
    for (const PlacedRun& run : pair.placed())
      packets += run.packets;
    REQUIRE(packets == 64);
  }
  CHECK(pair.card->no_receive == 0);
}

TEST_CASE("a path can hold as many packets as the link's limits say") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  const std::uint32_t limit = pair.a.placer().link_limits(pair.a.link).packets_per_path_max;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t sent = 0; sent < limit; sent += 64)
      REQUIRE(pair.place(to, 0, 64) == 64);
    std::size_t packets = 0;
    for (int polls = 0; polls < 20; ++polls)
      for (const PlacedRun& run : pair.placed())
        packets += run.packets;
    CHECK(packets == limit);
  }
  CHECK(pair.card->no_receive == 0);
}

TEST_CASE("a small output array returns the rest on the next call") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  for (std::uint16_t i = 0; i < 20; i += 2)
    REQUIRE(pair.place(to, i, 1) == 1);
  std::vector<PlacedRun> runs(4);
  std::set<unsigned> seen;
  std::size_t count = 0;
  while ((count = pair.b.placer().placed(pair.now, runs)) > 0)
    for (std::size_t i = 0; i < count; ++i)
      seen.insert(runs[i].first.index);
  CHECK(seen.size() == 10);
}

TEST_CASE("runs end where a segment ends") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  PlacedPacket last = pair.packet(to, 0);
  last.index = {5, 1, 1023};
  PlacedPacket next = pair.packet(to, 1);
  next.index = {5, 2, 0};  // its immediate is the last one's plus 1
  REQUIRE(pair.a.placer().place(std::vector{last, next}) == 2);
  const auto runs = pair.placed();
  REQUIRE(runs.size() == 2);
  CHECK(runs[1].first == PlacedIndex{5, 2, 0});
}

TEST_CASE("memory that is not registered cannot be sent from") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 4));
  std::vector<std::byte> other(kPacketBytes);
  CHECK(pair.a.placer().can_place_from(pair.a.piece(0, 4)));
  CHECK_FALSE(pair.a.placer().can_place_from(other));
  PlacedPacket packet = pair.packet(to, 0);
  packet.payload = other;
  CHECK(pair.a.placer().place(std::span(&packet, 1)) == 1);
  CHECK(pair.a.count_of("placed_tx_lost") == 1);
}

TEST_CASE("placed packets wake a waiting thread") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 4));
  while (pair.b.datapath->arm())
    pair.placed();
  pollfd waiting{pair.b.datapath->wait_descriptor(), POLLIN, 0};
  CHECK(::poll(&waiting, 1, 0) == 0);
  pair.place(to, 0, 1);
  CHECK(::poll(&waiting, 1, 0) == 1);
  CHECK(pair.b.datapath->arm());
  CHECK(pair.placed().size() == 1);
}

TEST_CASE("after the device is gone, packets are lost and nothing is reported") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 4));
  pair.card->removed = true;
  std::vector<wire::RxPacket> out(4);
  pair.a.datapath->receive(pair.now + 1s, out);
  pair.b.datapath->receive(pair.now + 1s, out);
  REQUIRE(pair.a.datapath->failure().has_value());
  CHECK(pair.place(to, 0, 4) == 4);
  CHECK(pair.placed().empty());
  pair.b.datapath->release_memory(pair.b.memory);
  const auto events = pair.events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == PermissionEvent::Kind::kRevoked);
}

}  // namespace
}  // namespace dlcp::datapath::test
