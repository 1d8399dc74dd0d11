// Queue pairs of placed packets that break or cannot be connected: what is lost, when they are
// repaired, and how long failing attempts may take.
#include "datapath/verbs/placement/links/introduction.h"
#include "placer_pair.h"

namespace dlcp::datapath::test {
namespace {

// The call in which a side notices broken queue pairs and repairs them.
void repair(Side& side, Time now) {
  std::vector<PlacedRun> runs(8);
  side.placer().placed(now, runs);
}

// Abandons memory that the card reads on each of these paths, so their queue pairs need a repair.
void abandon_on(Pair& pair, const Permission& to, wire::PathIndex paths) {
  pair.card->holds_completions = true;
  for (wire::PathIndex path = 0; path < paths; ++path)
    pair.place(to, path, 1, path);
  pair.a.datapath->abandon(pair.a.memory);
}

TEST_CASE("a broken queue pair loses its packets, is reset and works again with the same number") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  const auto numbers = pair.card->connected_numbers();
  pair.card->break_queue_pair(*numbers.begin());
  pair.card->break_queue_pair(*numbers.rbegin());
  CHECK(pair.place(to, 0, 8) == 8);
  CHECK(pair.placed().empty());
  repair(pair.a, pair.now);  // notices the error
  repair(pair.a, pair.now + 1s);
  CHECK_FALSE(pair.a.datapath->reads(pair.a.memory));
  CHECK(pair.a.count_of("placement_queue_pairs_reset") == 1);
  CHECK(pair.a.placer().paths(pair.a.link, TrafficClass::kExact).count() == 1);
  CHECK(pair.card->connected_numbers() == numbers);
  CHECK(pair.place(to, 0, 8) == 8);
  CHECK(pair.placed().size() == 1);
}

TEST_CASE("a queue pair that cannot be repaired is not counted as a path") {
  Pair pair;
  pair.connect(2);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  const auto numbers = pair.card->connected_numbers();
  pair.card->break_queue_pair(*std::next(numbers.begin()));
  pair.card->refuses_resets = true;
  pair.place(to, 0, 1, 0);
  pair.place(to, 0, 1, 1);
  repair(pair.a, pair.now);
  CHECK(pair.a.placer().paths(pair.a.link, TrafficClass::kExact).count() == 1);
}

TEST_CASE("abandoning memory ends the card's reads at once, and the queue pair works again") {
  Pair pair;
  pair.connect(1);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  pair.card->holds_completions = true;
  pair.place(to, 0, 4);
  CHECK(pair.a.datapath->reads(pair.a.piece(0, 4)));
  pair.a.datapath->abandon(pair.a.piece(0, 4));
  CHECK_FALSE(pair.a.datapath->reads(pair.a.piece(0, 4)));
  pair.card->holds_completions = false;
  repair(pair.a, pair.now + 1s);
  pair.placed();
  CHECK(pair.place(to, 0, 4) == 4);
  CHECK(pair.placed().size() == 1);
}

TEST_CASE("a path that cannot be connected does not keep the others from it") {
  Pair pair(PermissionKind::kRegion, GENERATE(PlacementTransport::kUc, PlacementTransport::kRc));
  const auto exact = static_cast<std::size_t>(TrafficClass::kExact);
  const auto tell = [](Side& from, Side& to) {
    return to.placer().connect(to.link, from.placer().introduction(from.link).view()).ok();
  };
  pair.open_links();
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kExact, 3).ok());
  const auto own = decode_introduction(pair.a.placer().introduction(pair.a.link).view());
  pair.card->unreachable = own.value().classes[exact][0].queue_pair;
  for (int round = 0; round < 2; ++round) {
    CHECK_FALSE(tell(pair.a, pair.b));
    CHECK(tell(pair.b, pair.a));
  }
  const wire::LinkPaths paths = pair.a.placer().paths(pair.a.link, TrafficClass::kExact);
  CHECK(paths.count() == 2);
  CHECK_FALSE(paths.has(0));
  CHECK(pair.b.count_of("placement_links_failed") == 2);
  pair.card->unreachable = 0;
  pair.introduce();
  CHECK(pair.a.placer().paths(pair.a.link, TrafficClass::kExact).count() == 3);
}

TEST_CASE("queue pairs whose receives the card refuses are repaired") {
  const bool at_start = GENERATE(false, true);
  Pair pair;
  pair.card->refuses_receives = at_start;
  pair.open_links();
  REQUIRE(pair.a.placer().widen(pair.a.link, TrafficClass::kExact, 1).ok());
  pair.introduce();
  pair.card->refuses_receives = true;
  const Permission to = pair.permit(pair.b.piece(0, 64));
  pair.place(to, 0, 64);
  CHECK(pair.placed().size() == (at_start ? 0 : 1));
  pair.card->refuses_receives = false;
  repair(pair.a, pair.now + 1s);
  repair(pair.b, pair.now + 1s);
  CHECK(pair.b.count_of("placement_queue_pairs_reset") > 0);
  CHECK(pair.place(to, 0, 64) == 64);
  CHECK(pair.placed().size() == 1);
}

TEST_CASE("UC: receives that end with an error are posted again") {
  Pair pair;
  pair.connect(1);
  pair.card->dead_keys_take_receives = true;
  const Permission to = pair.permit(pair.b.piece(0, 64));
  Permission dead = to;
  dead.key ^= 0x100;
  for (int burst = 0; burst < 9; ++burst) {  // more packets than a queue pair has receives
    CHECK(pair.place(dead, 0, 64) == 64);
    CHECK(pair.placed().empty());
  }
  CHECK(pair.b.count_of("placed_rx_errors") == 9 * 64);
  CHECK(pair.place(to, 0, 8) == 8);
  CHECK(pair.placed().size() == 1);
}

TEST_CASE("after two queue pairs of a link could not be connected, the others are not tried") {
  Pair pair;
  pair.open_links();
  for (const auto traffic_class : {TrafficClass::kExact, TrafficClass::kBulkProtected})
    REQUIRE(pair.a.placer().widen(pair.a.link, traffic_class, 4).ok());
  pair.card->is_unreachable = true;
  const Introduction own = pair.a.placer().introduction(pair.a.link);
  CHECK_FALSE(pair.b.placer().connect(pair.b.link, own.view()).ok());
  CHECK(pair.card->connects_refused == 2);
  pair.card->is_unreachable = false;
  pair.introduce();
  CHECK(pair.a.placer().paths(pair.a.link, TrafficClass::kBulkProtected).count() == 4);
}

TEST_CASE("failing repairs take a quarter of the time, even if each lasts a second") {
  Pair pair;
  pair.connect(8);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  abandon_on(pair, to, 8);
  pair.card->is_unreachable = true;
  pair.card->connects_refused = 0;
  for (const Time end = pair.now + 16s; pair.now < end;) {
    const std::size_t attempts = pair.card->connects_refused;
    repair(pair.a, pair.now);
    pair.now += pair.card->connects_refused > attempts ? 1s : 10ms;
  }
  CHECK(pair.card->connects_refused >= 3);
  CHECK(pair.card->connects_refused <= 5);
  pair.card->is_unreachable = pair.card->holds_completions = false;
  repair(pair.a, pair.now + 4s);
  CHECK(pair.a.count_of("placement_queue_pairs_reset") == 8);
  CHECK(pair.a.placer().paths(pair.a.link, TrafficClass::kExact).count() == 8);
}

TEST_CASE("queue pairs that had to be destroyed do not delay the repair of others") {
  Pair pair;
  pair.connect(4);
  const Permission to = pair.permit(pair.b.piece(0, 64));
  pair.card->refuses_resets = true;
  abandon_on(pair, to, 3);
  pair.card->refuses_resets = false;
  for (std::uint64_t repairs = 1; repairs <= 3; ++repairs) {
    pair.place(to, 3, 1, 3);
    pair.a.datapath->abandon(pair.a.memory);
    repair(pair.a, pair.now += 1s);
    CHECK(pair.a.count_of("placement_queue_pairs_reset") == repairs);
    CHECK(pair.a.placer().paths(pair.a.link, TrafficClass::kExact).count() == 1);
  }
}

TEST_CASE("after a failed repair the queue pairs of other links come first") {
  Pair pair;
  pair.connect(2);
  const LinkId dead = pair.a.link;
  const auto dead_numbers = pair.card->connected_numbers();
  pair.connect(1);  // a second link, which works
  const LinkId alive = pair.a.link;
  const Permission to = pair.permit(pair.b.piece(0, 64));
  pair.card->holds_completions = true;
  pair.place(to, 0, 1);
  pair.a.link = dead;
  abandon_on(pair, to, 2);
  pair.card->is_unreachable = true;
  repair(pair.a, pair.now += 1s);
  repair(pair.a, pair.now += 1s);  // the pause begins
  pair.card->is_unreachable = false;
  pair.card->unreachable = *std::next(dead_numbers.rbegin(), GENERATE(0, 1));  // one path
  repair(pair.a, pair.now += 4s);
  CHECK(pair.a.placer().paths(alive, TrafficClass::kExact).count() == 1);
  repair(pair.a, pair.now += 1s);
  repair(pair.a, pair.now += 4s);
  CHECK(pair.a.placer().paths(dead, TrafficClass::kExact).count() == 1);
}

}  // namespace
}  // namespace dlcp::datapath::test
