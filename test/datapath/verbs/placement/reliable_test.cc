// Placed packets over reliable queue pairs (RC): the card repeats what is lost, and a queue pair
// that fails is replaced by another on both sides.
#include <vector>

#include "placer_pair.h"

namespace dlcp::datapath::test {
namespace {

constexpr LinkPath kNowhere{};

struct ReliablePair : Pair {
  explicit ReliablePair(std::size_t paths = 1, Duration round_trip = {})
      : Pair(PermissionKind::kRegion, PlacementTransport::kRc) {
    connect(paths, round_trip);
  }
  std::size_t paths() { return a.placer().paths(a.link, TrafficClass::kExact).count(); }
  std::uint32_t failures(wire::PathIndex path) {
    return a.placer().failures(a.link, TrafficClass::kExact, path);
  }
  // Both sides collect completions and repair queue pairs.
  void poll(Duration passed) {
    now += passed;
    std::vector<PlacedRun> runs(8);
    a.placer().placed(now, runs);
    b.placer().placed(now, runs);
  }
  void poll() {
    poll(1s);  // notices errors
    poll(1s);
  }
  // How long the failed path 0 is left alone.
  Duration pause() {
    const auto before = a.placer().introduction_version(a.link);
    const Time failed = now;
    poll(0s);
    REQUIRE(paths() == 0);
    while (a.placer().introduction_version(a.link) == before) {
      REQUIRE_FALSE(a.placer().awaits_peer(a.link));
      poll(10ms);
      REQUIRE(now - failed < 10s);
    }
    const Duration pause = now - failed;
    poll(1s);  // a later repair is not delayed by this one
    REQUIRE(a.placer().awaits_peer(a.link));
    introduce();
    REQUIRE_FALSE(a.placer().awaits_peer(a.link));
    REQUIRE(paths() == 1);
    return pause;
  }
  bool tell_b() { return b.placer().connect(b.link, a.placer().introduction(a.link).view()).ok(); }
  bool tell_a() { return a.placer().connect(a.link, b.placer().introduction(b.link).view()).ok(); }
  void break_path(wire::PathIndex path) {
    Permission dead = permit(b.piece(0, 1));
    dead.key ^= 0x100;
    place(dead, 0, 1, path);
  }
  std::size_t packets_placed() {
    std::size_t packets = 0;
    for (const PlacedRun& run : placed())
      packets += run.packets;
    return packets;
  }
};

TEST_CASE("over RC the card repeats lost packets, and each is reported once and in order") {
  ReliablePair pair;
  const Permission to = pair.permit(pair.b.piece(0, 64));
  pair.card->loss = 0.2;
  pair.card->doubled = 0.1;
  pair.card->reordering = 3;
  REQUIRE(pair.place(to, 0, 64) == 64);
  std::vector<unsigned> indexes;
  for (int step = 0; step < 5000 && indexes.size() < 64; ++step) {
    pair.card->step();
    for (const PlacedRun& run : pair.placed())
      for (unsigned i = 0; i < run.packets; ++i)
        indexes.push_back(run.first.index + i);
  }
  REQUIRE(indexes.size() == 64);
  CHECK(std::ranges::is_sorted(indexes));
  CHECK(pair.card->repeats > 0);
  CHECK(pair.card->doubles_taken > 0);
  CHECK(pair.failures(0) == 0);
  CHECK(std::ranges::equal(pair.a.piece(0, 64), pair.b.piece(0, 64)));
}

TEST_CASE("a packet whose acknowledgement is lost may be repeated after its permission has ended") {
  ReliablePair pair;
  PermissionId id{};
  const Permission to = pair.permit(pair.b.piece(0, 1), &id);
  pair.card->holds_network = true;
  REQUIRE(pair.place(to, 0, 1) == 1);
  pair.card->step();  // the packet arrives; its acknowledgement leaves
  CHECK(pair.packets_placed() == 1);
  pair.card->loss = 1;
  pair.card->drop_network();
  pair.b.placer().revoke(id);
  pair.events();
  pair.card->loss = 0;
  for (int step = 0; step < 100; ++step)
    pair.card->step();
  CHECK(pair.card->doubles_taken > 0);
  CHECK(pair.card->dead_keys == 0);
  pair.poll();
  CHECK_FALSE(pair.a.datapath->reads(pair.a.memory));
  CHECK(pair.paths() == 1);
}

TEST_CASE(
    "a path that fails is connected again over new queue pairs, and others are not affected") {
  ReliablePair pair(2);
  const auto before = pair.card->connected_numbers();
  pair.break_path(1);
  pair.poll();
  CHECK(pair.a.count_of("placed_tx_errors") == 1);
  CHECK(pair.paths() == 1);
  CHECK(pair.failures(0) == 0);
  const auto failures = pair.failures(1);
  CHECK(failures > 0);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  CHECK(pair.place(to, 0, 4, 0) == 4);
  CHECK(pair.packets_placed() == 4);

  pair.introduce();
  CHECK(pair.paths() == 2);
  CHECK(pair.failures(1) == failures);
  const auto after = pair.card->connected_numbers();
  CHECK(after.size() == before.size());
  CHECK(after != before);
  CHECK(pair.place(to, 8, 4, 1) == 4);
  CHECK(pair.packets_placed() == 4);
}

TEST_CASE("a path whose packets are all lost fails after the card's last attempt") {
  ReliablePair pair;
  const Permission to = pair.permit(pair.b.piece(0, 64));
  pair.card->loss = 1;
  pair.place(to, 0, 4);
  for (int step = 0; step < 200; ++step)
    pair.card->step();
  pair.poll();
  CHECK(pair.failures(0) == 0);
  for (int step = 0; step < 100; ++step)
    pair.card->step();
  pair.poll();
  CHECK(pair.failures(0) > 0);
  CHECK(pair.paths() == 0);
  CHECK_FALSE(pair.a.datapath->reads(pair.a.memory));
  // The receiver's queue pair did not notice anything; it follows the introduction.
  pair.card->loss = 0;
  pair.introduce();
  CHECK(pair.paths() == 1);
  CHECK(pair.place(to, 0, 4) == 4);
  CHECK(pair.packets_placed() == 4);
}

TEST_CASE("a path that fails leaves a dead path of the network, in either direction") {
  ReliablePair pair(2);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  const auto label_of = [&](std::uint8_t side) {  // of the packets on path 0 to that side
    for (const ibv_qp_attr& attributes : pair.card->ready)
      if (attributes.ah_attr.grh.dgid.raw[15] == side) return attributes.ah_attr.grh.flow_label;
    return 0u;
  };
  pair.card->dead_labels.insert(label_of(GENERATE(std::uint8_t{1}, std::uint8_t{2})));
  pair.place(to, 0, 4);
  for (int step = 0; step < 300; ++step)
    pair.card->step();
  pair.poll();
  CHECK(pair.failures(0) > 0);
  pair.introduce();
  CHECK(pair.paths() == 2);
  pair.packets_placed();
  CHECK(pair.place(to, 0, 4) == 4);
  CHECK(pair.packets_placed() == 4);
  for (int step = 0; step < 300; ++step)
    pair.card->step();
  pair.poll();
  CHECK(pair.paths() == 2);
}

TEST_CASE("the card repeats packets later if the round trip is long") {
  // 17 ms are 30 steps of the fake card.
  const auto [round_trip, steps] =
      GENERATE(std::pair<Duration, int>(0ms, 30), std::pair<Duration, int>(4ms, 30),
               std::pair<Duration, int>(5ms, 60), std::pair<Duration, int>(16ms, 60));
  ReliablePair pair(1, round_trip);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  pair.card->loss = 1;
  pair.place(to, 0, 1);
  for (int step = 1; step < steps; ++step)
    pair.card->step();
  CHECK(pair.card->repeats == 0);
  pair.card->step();
  CHECK(pair.card->repeats == 1);
}

TEST_CASE("a path that loses everything is tried again after pauses that double, within limits") {
  ReliablePair pair;
  const Permission to = pair.permit(pair.b.piece(0, 64));
  const auto fail = [&] {
    pair.card->loss = 1;
    pair.place(to, 0, 1);
    for (int step = 0; step < 300; ++step)
      pair.card->step();
    return pair.pause();
  };
  const auto work = [&] {
    pair.card->loss = 0;
    pair.place(to, 0, 1);
    pair.poll(1ms);
  };
  for (int round = 0; round < 2; ++round) {
    work();
    CHECK(fail() < 100ms);
    for (const Duration least : {100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 6400ms}) {
      const Duration pause = fail();
      CHECK(pause >= least);
      CHECK(pause <= least + 150ms);
    }
  }
}

TEST_CASE("introductions of earlier queue pairs, late and out of order, do not matter") {
  ReliablePair pair;
  std::vector<Introduction> from_a, from_b;
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    if (rng.chance(0.2)) pair.break_path(0);
    if (rng.chance(0.5)) pair.poll();
    from_a.push_back(pair.a.placer().introduction(pair.a.link));
    from_b.push_back(pair.b.placer().introduction(pair.b.link));
    (void)pair.b.placer().connect(pair.b.link, from_a[rng.below(from_a.size())].view());
    (void)pair.a.placer().connect(pair.a.link, from_b[rng.below(from_b.size())].view());
    if (!rng.chance(0.1)) continue;
    // Without further failures the path works soon.
    for (int i = 0; i < 4; ++i) {
      for (int step = 0; step < 300; ++step)  // dead packets are repeated too
        pair.card->step();
      pair.poll();
      CHECK(pair.tell_b());
      CHECK(pair.tell_a());
    }
    REQUIRE(pair.paths() == 1);
    const Permission to = pair.permit(pair.b.piece(0, 4));
    pair.place(to, 0, 4);
    REQUIRE(pair.packets_placed() == 4);
  }
}

TEST_CASE("abandoning memory ends a path over RC, which then works again") {
  ReliablePair pair;
  const Permission to = pair.permit(pair.b.piece(0, 64));
  pair.card->loss = 1;
  pair.place(to, 0, 4);
  CHECK(pair.a.datapath->reads(pair.a.piece(0, 4)));
  pair.a.datapath->abandon(pair.a.piece(0, 4));
  CHECK_FALSE(pair.a.datapath->reads(pair.a.piece(0, 4)));
  CHECK(pair.failures(0) > 0);
  pair.card->loss = 0;
  pair.poll();
  pair.introduce();
  CHECK(pair.paths() == 1);
  CHECK(pair.place(to, 0, 4) == 4);
  CHECK(pair.packets_placed() == 4);
}

TEST_CASE("a link that does not exist has no failures") {
  ReliablePair pair;
  CHECK(pair.a.placer().failures(kNowhere.link, TrafficClass::kExact, 0) == 0);
  CHECK(pair.failures(9) == 0);
}

}  // namespace
}  // namespace dlcp::datapath::test
