#include "core/flow_control/turns.h"

#include <vector>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

constexpr Time t0 = time_from_ns(1'000'000'000);

// `count` senders that began in order.
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

TEST_CASE("every sender has a turn unless there are more than are served at once") {
  Senders few(Turns::kServed);
  CHECK(few.served() == std::vector<bool>{true, true, true, true});
  Senders many(Turns::kServed + 2);
  CHECK(many.served() == std::vector<bool>{true, true, true, true, false, false});
}

TEST_CASE("a sender whose message ends gives its turn to the next, and queues again at the end") {
  Senders senders(6);
  senders.turns.leave(senders.turn[1]);
  CHECK_FALSE(senders.turns.has(senders.turn[1]));
  CHECK(senders.turns.has(senders.turn[4]));
  CHECK_FALSE(senders.turns.has(senders.turn[5]));
  senders.turns.on_data(t0, senders.turn[1]);
  senders.turns.leave(senders.turn[0]);
  CHECK(senders.served() == std::vector<bool>{false, false, true, true, true, true});
  senders.turns.leave(senders.turn[0]);  // leaving twice has no effect
  CHECK(senders.served() == std::vector<bool>{false, false, true, true, true, true});
}

TEST_CASE("a silent sender is skipped and keeps its place") {
  Senders senders(7);
  const Time later = t0 + Turns::kSilent + 1ns;
  for (std::size_t i = 2; i < 7; ++i)
    senders.turns.on_data(later, senders.turn[i]);
  CHECK(senders.turns.has(senders.turn[5]));  // replaces one of the two silent senders
  CHECK_FALSE(senders.turns.has(senders.turn[6]));
  senders.turns.on_data(later, senders.turn[0]);
  CHECK_FALSE(senders.turns.has(senders.turn[5]));
  CHECK(senders.turns.has(senders.turn[1]));
}
