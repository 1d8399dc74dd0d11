// Which place has its turn next, and which place is served when.
#include "core/endpoint/agenda.h"

#include "catch.h"
#include "core/liveness/pause_watch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

Time at(std::int64_t ns) {
  return time_from_ns(ns);
}

std::vector<Agenda::Place> served(Agenda& agenda, Time now) {
  std::vector<Agenda::Place> places;
  agenda.take_due(now);
  while (const auto place = agenda.pop_due())
    places.push_back(*place);
  return places;
}

}  // namespace

TEST_CASE("a place has one turn however often it requests one, in the order of requests") {
  Agenda agenda;
  agenda.want_turn(2, Agenda::Turn::kData);
  agenda.want_turn(0, Agenda::Turn::kData);
  agenda.want_turn(2, Agenda::Turn::kData);
  CHECK(agenda.has_turn(2));
  CHECK_FALSE(agenda.has_turn(1));
  CHECK_FALSE(agenda.has_turn(7));  // a place that was never added
  CHECK(agenda.pop_turn() == 2u);
  CHECK_FALSE(agenda.has_turn(2));
  agenda.want_turn(2, Agenda::Turn::kData);  // again, behind the others
  CHECK(agenda.pop_turn() == 0u);
  CHECK(agenda.pop_turn() == 2u);
  CHECK_FALSE(agenda.pop_turn().has_value());
}

TEST_CASE("answers have their turn before data, and keep the order of requests among themselves") {
  Agenda agenda;
  agenda.want_turn(0, Agenda::Turn::kData);
  agenda.want_turn(1, Agenda::Turn::kAnswer);
  agenda.want_turn(2, Agenda::Turn::kData);
  agenda.want_turn(3, Agenda::Turn::kAnswer);
  agenda.want_turn(0, Agenda::Turn::kAnswer);  // it has its turn
  for (const Agenda::Place place : {1u, 3u, 0u, 2u})
    CHECK(agenda.pop_turn() == place);
  CHECK_FALSE(agenda.pop_turn().has_value());
}

TEST_CASE("a follower has its turn after the data of its call, and before that of the next call") {
  Agenda agenda;
  agenda.want_turn(1, Agenda::Turn::kFollower);
  agenda.want_turn(2, Agenda::Turn::kFollower);
  agenda.want_turn(0, Agenda::Turn::kData);
  CHECK(agenda.pop_turn() == 0u);
  CHECK(agenda.pop_turn() == 1u);
  agenda.end_call();
  agenda.want_turn(0, Agenda::Turn::kData);
  CHECK(agenda.pop_turn() == 2u);
  CHECK(agenda.pop_turn() == 0u);
  CHECK_FALSE(agenda.pop_turn().has_value());
}

TEST_CASE("a follower that becomes urgent has one turn, before data") {
  Agenda agenda;
  agenda.want_turn(1, Agenda::Turn::kFollower);
  agenda.want_turn(0, Agenda::Turn::kData);
  agenda.want_turn(1, Agenda::Turn::kAnswer);
  CHECK(agenda.pop_turn() == 1u);
  CHECK(agenda.pop_turn() == 0u);
  CHECK_FALSE(agenda.pop_turn().has_value());
}

TEST_CASE("the time of a place that waits for its turn is at least 5 ms later") {
  Agenda agenda;
  served(agenda, at(1000));
  agenda.want_turn(1, Agenda::Turn::kData);
  agenda.serve_at(1, at(2000));
  CHECK(agenda.next() == at(5'001'000));
  CHECK(agenda.pop_turn() == 1u);
  agenda.serve_at(1, at(3000));
  CHECK(agenda.next() == at(3000));
}

TEST_CASE("a place is served at its time, and not a nanosecond earlier") {
  Agenda agenda;
  CHECK(agenda.next() == kNever);
  agenda.serve_at(1, at(1000));
  CHECK(agenda.next() == at(1000));
  CHECK(served(agenda, at(999)).empty());
  CHECK(served(agenda, at(1000)) == std::vector<Agenda::Place>{1});
  CHECK(served(agenda, at(2000)).empty());
  CHECK(agenda.next() == kNever);
}

TEST_CASE(
    "rescheduling a place to an earlier time serves it once; a later time does not delay it") {
  Agenda agenda;
  agenda.serve_at(0, at(500));
  agenda.serve_at(0, at(900));
  CHECK(agenda.next() == at(500));
  agenda.serve_at(0, at(300));
  CHECK(agenda.next() == at(300));
  CHECK(served(agenda, at(300)) == std::vector<Agenda::Place>{0});
  CHECK(served(agenda, at(1000)).empty());  // the entry at 500 was superseded
  agenda.serve_at(0, kNever);
  CHECK(agenda.next() == kNever);
}

TEST_CASE("a place that is scheduled while others are served waits for the next call") {
  Agenda agenda;
  agenda.serve_at(0, at(100));
  agenda.serve_at(1, at(200));
  agenda.take_due(at(200));
  REQUIRE(agenda.pop_due() == 0u);
  agenda.serve_at(0, at(150));  // due already, but this call's set of due places is fixed
  agenda.serve_at(1, at(120));  // earlier than the entry that take_due() has removed
  CHECK_FALSE(agenda.pop_due().has_value());
  CHECK(agenda.next() == at(120));
  CHECK(served(agenda, at(200)) == std::vector<Agenda::Place>{1, 0});
}

TEST_CASE(
    "a timer served late by an eighth of the peer timeout counts as a pause; slightly less does "
    "not") {
  const Duration least = 800ms / 8;
  PauseWatch watch(800ms);
  const Time start = at(1'000'000'000);
  watch.on_run(start, kNever);
  CHECK(watch.on_run(start + 10ms, start + 20ms) == Duration::zero());
  SECTION("slightly less than an eighth late") {
    CHECK(watch.on_run(start + 20ms + least - 1ns, start + 20ms) == Duration::zero());
  }
  SECTION("an eighth late") {
    CHECK(watch.on_run(start + 20ms + least, start + 20ms) == least);
  }
  SECTION("no timer was due: silence is not a pause") {
    CHECK(watch.on_run(start + 10s, kNever) == Duration::zero());
    CHECK(watch.on_run(start + 30s, start + 30s - least + 1ns) == Duration::zero());
  }
  SECTION("only the time since the last run counts, however old the timer is") {
    CHECK(watch.on_run(start + 10ms + least - 1ns, start) == Duration::zero());
    CHECK(watch.on_run(start + 10ms + 3 * least, start) == 2 * least + 1ns);
  }
}
