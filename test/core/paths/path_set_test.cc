#include "core/paths/path_set.h"

#include <array>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {
constexpr Time t0 = time_from_ns(1'000'000'000);

std::array<int, 8> counts_of(PathSet& paths, int draws) {
  std::array<int, 8> counts{};
  for (int i = 0; i < draws; ++i)
    ++counts[paths.choose(t0, 0ns).path];
  return counts;
}

std::size_t avoided(const PathSet& paths) {
  std::size_t count = 0;
  for (std::size_t path = 0; path < paths.size(); ++path)
    count += paths.state(static_cast<wire::PathIndex>(path)).avoided ? 1 : 0;
  return count;
}
}  // namespace

TEST_CASE("all untested paths are used") {
  const Flight flight(8);
  PathSet paths(flight, 1);
  for (const int count : counts_of(paths, 800))
    CHECK(count > 50);
}

TEST_CASE("a slow path gets less than its share, a fast path more") {
  const Flight flight(8);
  PathSet paths(flight, 1);
  for (std::uint8_t path = 0; path < 8; ++path)
    paths.on_delivered(path, 1, path == 3 ? 1ms : 100us);
  const auto counts = counts_of(paths, 800);
  CHECK(counts[3] < 40);  // only when both draws hit it
}

TEST_CASE("if a quarter of the paths is very slow, they get far less than with two choices") {
  const Flight flight(8);
  PathSet paths(flight, 1);
  for (int round = 0; round < 4; ++round)
    for (std::uint8_t path = 0; path < 8; ++path)
      paths.on_delivered(path, 1, path % 4 == 3 ? 1ms : 100us);
  const auto counts = counts_of(paths, 8000);
  CHECK(counts[3] + counts[7] < 80);  // 500 with two choices, 31 with four
  CHECK(counts[3] + counts[7] > 5);   // its delay is still measured
}

TEST_CASE("a path that loses several bursts is avoided, tried once after a pause, and reused") {
  const Flight flight(8);
  PathSet paths(flight, 1);
  CHECK_FALSE(paths.on_lost(t0, 5, t0 - 2ms, 1ms).avoided);
  CHECK_FALSE(paths.on_lost(t0, 5, t0 - 2ms, 1ms).avoided);
  CHECK_FALSE(
      paths.on_lost(t0, 5, t0 - 2ms, 1ms)
          .avoided);  // one burst lost in one full queue does not make the path a black hole
  CHECK(paths.on_lost(t0, 5, t0 - 1ms, 1ms).avoided);
  CHECK(avoided(paths) == 1);
  CHECK(counts_of(paths, 800)[5] == 0);

  const auto trial = paths.choose(t0 + 10ms, 0ns);
  CHECK(trial.path == 5);
  CHECK(trial.packets_max == 1);
  for (int burst = 0; burst < 4; ++burst)
    CHECK(paths.choose(t0 + 29ms, 0ns).path != 5);  // the pause has doubled
  CHECK(paths.choose(t0 + 30ms, 0ns).path == 5);

  paths.on_delivered(5, 1, 100us);
  CHECK(avoided(paths) == 0);
  CHECK(counts_of(paths, 800)[5] > 0);
}

TEST_CASE("a path that has lost a packet gets one per round trip until it delivers") {
  const Flight flight(8);
  PathSet paths(flight, 1);
  const auto first = paths.on_lost(t0, 5, t0 - 1ms, 1ms);
  CHECK_FALSE(first.known);  // the cause may have been a full queue
  std::array<int, 8> counts = counts_of(paths, 800);
  CHECK(counts[5] == 1);  // soon, after few packets of the others
  const auto again = paths.on_lost(t0 + 1ms, 5, t0, 1ms);
  CHECK(again.known);  // and a loss there does not indicate congestion
  CHECK_FALSE(again.avoided);
  CHECK(avoided(paths) == 0);
  const auto trial = paths.choose(t0 + 1ms, 0ns);
  CHECK(trial.path == 5);
  CHECK(trial.packets_max == 1);
  for (int burst = 0; burst < 8; ++burst)
    CHECK(paths.choose(t0 + 2ms - 1ns, 0ns).path != 5);
  CHECK(paths.choose(t0 + 2ms, 0ns).path == 5);
  for (int burst = 0; burst < 3; ++burst)
    CHECK(paths.choose(t0 + 3ms, 0ns).path != 5);  // a trial is one of four bursts
  CHECK(paths.choose(t0 + 3ms, 0ns).path == 5);
  paths.on_delivered(5, 1, 100us);
  CHECK(counts_of(paths, 800)[5] > 1);
}

TEST_CASE(
    "if only some paths are offered, a healthy one of these is chosen, and only these tried") {
  constexpr auto kOffered = std::to_array<wire::PathIndex>({1, 2, 3});
  const Flight flight(64);
  PathSet paths(flight, 1);
  for (int round = 0; round < 4; ++round)
    for (const wire::PathIndex path : kOffered)
      paths.on_delivered(path, 1, path == 3 ? 1ms : 100us);
  std::array<int, 64> counts{};
  const auto draw = [&](int draws) {
    counts = {};
    for (int i = 0; i < draws; ++i)
      ++counts[paths.choose(t0, 0ns, PathSet::Cargo::kNew, kOffered).path];
  };
  draw(900);
  CHECK(counts[1] + counts[2] + counts[3] == 900);
  CHECK(counts[3] < 50);
  paths.on_lost(t0, 1, t0 - 1ms, 1ms);
  paths.on_lost(t0, 40, t0 - 1ms, 1ms);
  draw(900);
  CHECK(counts[1] == 1);  // tried once
  CHECK(counts[40] == 0);
  CHECK(counts[1] + counts[2] + counts[3] == 900);
}

TEST_CASE("a retransmission takes a path that has just delivered, and no doubted one") {
  constexpr auto kRepair = PathSet::Cargo::kRepair;
  const Flight flight(64);
  PathSet paths(flight, 1);
  CHECK(paths.choose(t0, 0ns, kRepair).packets_max > 1);  // no path is known yet: any is chosen
  for (const wire::PathIndex path : std::to_array<wire::PathIndex>({3, 17, 40}))
    paths.on_delivered(path, 1, 100us);
  paths.on_lost(t0, 9, t0 - 1ms, 1ms);
  for (int i = 0; i < 60; ++i) {
    const auto choice = paths.choose(t0, 0ns, kRepair);
    CHECK((choice.path == 3 || choice.path == 17 || choice.path == 40));
    CHECK(choice.packets_max > 1);
  }
  // A path that has lost a packet since then is not used.
  paths.on_lost(t0 + 1ms, 17, t0, 1ms);
  for (int i = 0; i < 60; ++i)
    CHECK(paths.choose(t0, 0ns, kRepair).path != 17);
}

TEST_CASE("a packet overtaken on its own path raises no doubt of the path") {
  const Flight flight(8);
  PathSet paths(flight, 1);
  for (int i = 0; i < 8; ++i) {
    const auto suspicion = paths.on_lost(t0, 5, t0 - 10ms + i * 1ms, 1ms, true);
    CHECK_FALSE(suspicion.known);
    CHECK_FALSE(suspicion.avoided);
  }
  CHECK(avoided(paths) == 0);
  CHECK(counts_of(paths, 800)[5] > 1);  // fewer than its share, because its loss rate is high
}

TEST_CASE("if all paths are doubted, packets go over all of them") {
  const Flight flight(8);
  PathSet paths(flight, 1);
  for (std::uint8_t path = 0; path < 8; ++path)
    paths.on_lost(t0, path, t0 - 1ms, 1ms);
  for (const int count : counts_of(paths, 800))
    CHECK(count > 50);
}

TEST_CASE("if every path is avoided, packets rotate over all of them") {
  const Flight flight(2);
  PathSet paths(flight, 1);
  for (std::uint8_t path = 0; path < 2; ++path)
    for (int i = 0; i < 4; ++i)
      paths.on_lost(t0, path, t0 - 4ms + i * 1ms, 1ms);
  CHECK(avoided(paths) == 2);
  const auto first = paths.choose(t0, 0ns);
  const auto second = paths.choose(t0, 0ns);
  CHECK(first.packets_max == 1);
  CHECK(first.path != second.path);
}

TEST_CASE("a path with 10% loss is used less, though never avoided") {
  const Flight flight(8);
  PathSet paths(flight, 1);
  for (int round = 0; round < 200; ++round) {
    for (std::uint8_t path = 0; path < 8; ++path)
      if (path == 2 && round % 10 == 0)
        paths.on_lost(t0, path, t0, 1ms);
      else
        paths.on_delivered(path, 1, 100us);
  }
  CHECK(counts_of(paths, 800)[2] < 40);
  CHECK(avoided(paths) == 0);
}
