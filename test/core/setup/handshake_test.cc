#include "core/setup/handshake.h"

#include <array>
#include <vector>

#include "catch.h"
#include "core/paths/answer_turns.h"
#include "wire/data/data_header.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

struct Scene {
  Scene() {
    config.datagram_bytes_max = 8972;
    handshake.emplace(config, 11, Handshake::Target{{1, {22, 23}}, {24, 25}, {}}, local);
    handshake->lead(t0, {});
  }
  // Sizes of the HELLOs sent, or 0 for a START.
  std::vector<std::uint32_t> frames(Time now) {
    arena.reset();
    std::array<wire::TxPacket, 16> packets;
    const std::size_t count = handshake->poll_transmit(now, frames_out, packets);
    std::vector<std::uint32_t> sizes;
    for (std::size_t i = 0; i < count; ++i) {
      const auto hello = wire::decode<wire::Hello>(packets[i].payload);
      sizes.push_back(hello ? static_cast<std::uint32_t>(packets[i].payload.size()) : 0);
      path = packets[i].path;
      last_is_unmarked = packets[i].unmarked;
      first_is_unmarked = packets[0].unmarked;
      if (hello) CHECK(packets[i].unmarked == ((hello->echo & 1) != 0));
      if (const auto start = wire::decode<wire::Start>(packets[i].payload))
        CHECK(packets[i].unmarked == start->unmarked);
    }
    return sizes;
  }
  void welcome(Time now, std::uint32_t size, std::uint32_t peer_max, Time asked = t0,
               bool unmarked = false) {
    wire::Welcome frame;
    frame.echo = (wire::wire_time(asked) & ~1u) | (unmarked ? 1u : 0u);
    frame.receiver_token = 33;
    frame.hello_bytes = size;
    frame.datagram_bytes_max = peer_max;
    handshake->on_welcome(now, frame);
  }

  static constexpr Time t0 = time_from_ns(1'000'000'000);
  Config config;
  wire::EndpointAddress local;
  FrameArena arena;
  Channel channel{{1, 2}, {{3, 4}}, {}};
  FrameWriter frames_out{arena, channel};
  std::optional<Handshake> handshake;
  wire::PathIndex path = 0;  // of the last frame
  bool last_is_unmarked = false;
  bool first_is_unmarked = false;
};

using Sizes = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE(
    "HELLO is sent full-size and safe, then in every size that might pass, at doubling intervals") {
  Scene s;
  CHECK(s.frames(Scene::t0) == Sizes{8972, 1452});
  CHECK(s.frames(Scene::t0 + 5ms - 1ns).empty());
  CHECK(s.frames(Scene::t0 + 5ms) == Sizes{8972, 8952, 8892, 4152, 1452, 1340, 1232, 548});
  CHECK(s.frames(Scene::t0 + 15ms - 1ns).empty());
  CHECK(s.frames(Scene::t0 + 15ms).size() == 8);
}

TEST_CASE("when the largest size passes, START follows at once with a payload of whole granules") {
  Scene s;
  s.frames(Scene::t0);
  s.welcome(Scene::t0 + 1ms, 8972, 8972);
  CHECK(s.handshake->state() == Handshake::State::kStart);
  CHECK(s.handshake->terms().payload_bytes == 69 * 128);  // 8972 - 44 = 8928 = 69.75 granules
  CHECK(s.frames(Scene::t0 + 1ms) == Sizes{0});
  s.handshake->finish();
  CHECK(s.handshake->state() == Handshake::State::kDone);
  CHECK(s.handshake->next_timeout() == kNever);
}

TEST_CASE("the exchange of a smaller HELLO does not count as one of the agreed size") {
  Scene s;
  s.frames(Scene::t0);
  s.frames(Scene::t0 + 5ms);
  s.welcome(Scene::t0 + 15ms, 4152, 8972, Scene::t0 + 5ms);
  s.welcome(Scene::t0 + 16ms, 548, 8972, Scene::t0 + 15ms);
  CHECK(s.handshake->terms().round_trip < 2ms);  // echoes count units of 128 ns
  CHECK(s.handshake->terms().took > 9ms);
}

TEST_CASE("the smaller MTU of both interfaces decides") {
  Scene s;
  s.frames(Scene::t0);
  s.welcome(Scene::t0 + 1ms, 1452, 1472);
  // The peer's own 1472 is tried before 1452 is used.
  CHECK(s.frames(Scene::t0 + 6ms) == Sizes{1472});
  s.welcome(Scene::t0 + 7ms, 1472, 1472);
  CHECK(s.handshake->state() == Handshake::State::kStart);
  CHECK(s.handshake->terms().payload_bytes == 1408);
}

TEST_CASE("a size that never passes is abandoned after some rounds") {
  Scene s;
  s.frames(Scene::t0);
  s.welcome(Scene::t0 + 1ms, 4152, 8972);
  Time now = Scene::t0 + 1ms;
  for (int round = 0; round < 10 && s.handshake->state() == Handshake::State::kHello; ++round) {
    now = s.handshake->next_timeout();
    s.frames(now);
  }
  CHECK(s.handshake->state() == Handshake::State::kStart);
  CHECK(s.handshake->terms().payload_bytes == 32 * 128);
  CHECK(now - Scene::t0 < 200ms);
}

TEST_CASE("HELLO takes all paths in turn, twice within 1.5 s") {
  Scene s;
  std::vector<unsigned> seen(s.config.paths);
  while (s.handshake->next_timeout() <= Scene::t0 + 1500ms) {
    s.frames(s.handshake->next_timeout());
    ++seen.at(s.path);
  }
  for (const unsigned times : seen)
    CHECK(times >= 2);
}

TEST_CASE("START takes the path of the HELLO that was answered, until another HELLO is answered") {
  Scene s;
  s.frames(Scene::t0);
  s.frames(Scene::t0 + 5ms);
  CHECK(s.path == 1);
  s.frames(Scene::t0 + 15ms);
  CHECK(s.path == 2);
  s.welcome(Scene::t0 + 16ms, 8972, 8972, Scene::t0 + 5ms);
  Time now = Scene::t0 + 16ms;
  for (int k = 0; k < 3; ++k, now = s.handshake->next_timeout()) {
    CHECK(s.frames(now) == Sizes{0});
    CHECK(s.path == 1);
  }
  CHECK(s.frames(now) == Sizes{0, 8972});  // perhaps the receiver has forgotten this connection
  CHECK(s.path == 3);
  s.welcome(now + 1ms, 8972, 8972, now);
  CHECK(s.frames(now + 1ms) == Sizes{0});
  CHECK(s.path == 3);
}

namespace {

// Sends HELLO until one goes without marks; returns the time of that one.
Time until_unmarked(Scene& s) {
  Time now = Scene::t0;
  do {
    now = s.handshake->next_timeout();
    s.frames(now);
  } while (!s.last_is_unmarked && now < Scene::t0 + 2s);
  return now;
}

}  // namespace

TEST_CASE("after 250 ms without an answer each round ends with a small HELLO without marks") {
  Scene s;
  s.config.can_unmark = true;
  const Time now = until_unmarked(s);
  CHECK(now >= Scene::t0 + 250ms);
  CHECK(now < Scene::t0 + 300ms);
  CHECK(s.frames(s.handshake->next_timeout()) ==
        Sizes{8972, 8952, 8892, 4152, 1452, 1340, 1232, 548, 548});
  CHECK(s.last_is_unmarked);
}

TEST_CASE("after a rejection, which may be about marks, the next round has a HELLO without them") {
  Scene s;
  s.config.can_unmark = true;
  s.frames(Scene::t0);
  s.handshake->retry_soon(Scene::t0 + 1ms);
  s.frames(Scene::t0 + 6ms);
  CHECK(s.last_is_unmarked);
}

TEST_CASE("if only HELLO without marks is answered, later rounds and START have no marks either") {
  Scene s;
  s.config.can_unmark = true;
  const Time now = until_unmarked(s);
  const auto sent_on = s.path;
  CHECK_FALSE(s.handshake->needs_unmarked());
  s.welcome(now + 1ms, 548, 8972, now, true);
  CHECK(s.handshake->needs_unmarked());
  const Time next = s.handshake->next_timeout();
  CHECK(s.frames(next) == Sizes{8972, 8952, 8892, 4152, 1452, 1340, 1232, 548});
  CHECK(s.first_is_unmarked);
  CHECK_FALSE(s.last_is_unmarked);  // marks get another chance
  s.welcome(next + 1ms, 8972, 8972, now, true);
  CHECK(s.handshake->needs_unmarked());
  CHECK(s.frames(next + 1ms) == Sizes{0});
  CHECK(s.path == sent_on);
  CHECK(s.last_is_unmarked);
}

TEST_CASE("HELLO without marks may be answered late, when its path has carried others") {
  Scene s;
  s.config.can_unmark = true;
  s.config.paths = 1;
  s.handshake->lead(Scene::t0, {});
  const Time asked = until_unmarked(s);
  const Time now = s.handshake->next_timeout();
  s.frames(now);
  s.welcome(now + 1ms, 548, 8972, asked, true);
  CHECK(s.handshake->needs_unmarked());
}

TEST_CASE("an answer to a HELLO with marks before START shows that marks get through") {
  for (const bool later : {false, true}) {
    Scene s;
    s.config.can_unmark = true;
    Time now = until_unmarked(s);
    s.welcome(now + 1ms, 548, 8972, now, true);
    if (later) {
      now = s.handshake->next_timeout();
      s.frames(now);
    }
    s.welcome(now + 2ms, 1452, 8972, now);
    s.welcome(now + 3ms, 8972, 8972, now, true);
    CHECK_FALSE(s.handshake->needs_unmarked());
    CHECK(s.frames(now + 3ms) == Sizes{0});
    CHECK_FALSE(s.last_is_unmarked);
  }
}

TEST_CASE("if the HELLO with marks is answered first, the peer needs nothing without marks") {
  Scene s;
  s.config.can_unmark = true;
  const Time now = until_unmarked(s);
  s.welcome(now + 1ms, 1452, 8972, now);
  s.welcome(now + 1ms, 548, 8972, now, true);
  CHECK_FALSE(s.handshake->needs_unmarked());
}

TEST_CASE("to a host that needs packets without marks, the whole handshake has none") {
  Scene s;
  s.config.can_unmark = true;
  UnmarkedPeers peers;
  peers.add({});
  const Handshake::Target target{{1, {22, 23}}, {24, 25}, {}, {}, &peers};
  s.handshake.emplace(s.config, 11, target, s.local);
  s.handshake->lead(Scene::t0, {});
  CHECK(s.frames(Scene::t0) == Sizes{8972, 1452});
  CHECK(s.first_is_unmarked);
  s.welcome(Scene::t0 + 1ms, 8972, 8972, Scene::t0, true);
  CHECK(s.frames(Scene::t0 + 1ms) == Sizes{0});
  CHECK(s.last_is_unmarked);
}

TEST_CASE("a datapath that cannot send without marks sends no such HELLO") {
  Scene s;
  CHECK(until_unmarked(s) >= Scene::t0 + 2s);
}

TEST_CASE("full checksums are used if either side wants them") {
  Scene s;
  s.frames(Scene::t0);
  wire::Welcome frame;
  frame.hello_bytes = 8972;
  frame.datagram_bytes_max = 8972;
  frame.protection = wire::Protection::kFull;
  s.handshake->on_welcome(Scene::t0, frame);
  CHECK(s.handshake->terms().protection == wire::Protection::kFull);
}

TEST_CASE("the shortest answer time is taken as the round trip, within bounds") {
  Scene s;
  CHECK(s.handshake->terms().round_trip == 50ms);
  s.welcome(Scene::t0 + 80ms, 1452, 8972);
  CHECK(s.handshake->terms().round_trip >= 80ms);
  CHECK(s.handshake->terms().round_trip < 80ms + 1us);  // time stamps have a unit of 128 ns
  s.welcome(Scene::t0 + 90ms, 1452, 8972, Scene::t0 + 40ms);
  CHECK(s.handshake->terms().round_trip < 50ms + 1us);
  s.welcome(Scene::t0 + 90ms, 1452, 8972, Scene::t0 + 90ms);
  CHECK(s.handshake->terms().round_trip < 2ms);  // echoes count units of 128 ns
  Scene late;
  late.welcome(Scene::t0 + 5s, 1452, 8972);
  CHECK(late.handshake->terms().round_trip == 1s);
}

TEST_CASE("the path's delay is the shortest answer time of the largest size") {
  Scene s;
  s.welcome(Scene::t0 + 40us, 1452, 8972);
  CHECK(s.handshake->terms().took < 41us);
  s.welcome(Scene::t0 + 70us, 1472, 8972);  // larger packets take longer
  CHECK(s.handshake->terms().took >= 70us);
  CHECK(s.handshake->terms().took < 71us);
}

TEST_CASE("the first three answers take the path of the frame, and later ones all paths in turn") {
  AnswerTurns turns;
  std::vector<unsigned> answered_on(16);
  for (wire::PathIndex answer = 0; answer < 19; ++answer) {
    for (int frame = 0; frame < 8; ++frame)  // of several sizes, with one answer
      turns.on_frame(7);
    const wire::PathIndex path = turns.next(16);
    if (answer < 3)
      CHECK(path == 7);
    else
      ++answered_on[path];
  }
  CHECK(answered_on == std::vector<unsigned>(16, 1));
  turns.restart();
  CHECK(turns.next(16) == 7);
}
