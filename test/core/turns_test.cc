#include "core/flow_control/turns.h"

#include <vector>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr Time t0 = time_from_ns(1'000'000'000);

// So many senders who began in order.
struct Senders {
  explicit Senders(std::size_t count) : turn(count) {
    for (Turn& one : turn)
      turns.on_data(t0, one);
  }
  std::vector<bool> served() {
    std::vector<bool> has;
    for (const Turn& one : turn)
      has.push_back(turns.has(one));
    return has;
  }

  Turns turns;
  std::vector<Turn> turn;
};

}  // namespace

TEST_CASE("everybody has a turn until there are more senders than are served at once") {
  Senders few(Turns::kServed);
  CHECK_FALSE(few.turns.crowded());
  CHECK(few.served() == std::vector<bool>{true, true, true, true});
  Senders many(Turns::kServed + 2);
  CHECK(many.turns.crowded());
  CHECK(many.served() == std::vector<bool>{true, true, true, true, false, false});
}

TEST_CASE("whose message is over makes room for the next, and stands at the end with another") {
  Senders senders(6);
  senders.turns.leave(senders.turn[1]);
  CHECK_FALSE(senders.turns.has(senders.turn[1]));
  CHECK(senders.turns.has(senders.turn[4]));
  CHECK_FALSE(senders.turns.has(senders.turn[5]));
  senders.turns.on_data(t0, senders.turn[1]);
  senders.turns.leave(senders.turn[0]);
  CHECK(senders.served() == std::vector<bool>{false, false, true, true, true, true});
  senders.turns.leave(senders.turn[0]);  // leaves no more than once
  CHECK(senders.turns.crowded());
}

TEST_CASE("who is silent is not waited for, keeps his place for a while, and loses it then") {
  Senders senders(7);
  const Time later = t0 + Turns::kSilent + 1ns;
  for (std::size_t i = 2; i < 7; ++i)
    senders.turns.on_data(later, senders.turn[i]);
  CHECK(senders.turns.has(senders.turn[5]));  // in place of one of the silent two
  CHECK_FALSE(senders.turns.has(senders.turn[6]));
  senders.turns.on_data(later, senders.turn[0]);
  CHECK_FALSE(senders.turns.has(senders.turn[5]));
  CHECK(senders.turns.has(senders.turn[1]));

  const Time much_later = later + Turns::kGone;
  for (std::size_t i = 2; i < 7; ++i)
    senders.turns.on_data(much_later, senders.turn[i]);
  CHECK(senders.turns.has(senders.turn[5]));
  CHECK_FALSE(senders.turn[1].in_line);
  CHECK(senders.turn[0].in_line);  // not yet
  senders.turns.on_data(much_later, senders.turn[1]);
  CHECK_FALSE(senders.turns.has(senders.turn[1]));
}
