// When packets shrink and grow, round by round.
#include "core/packet_size/packet_size.h"

#include <vector>

#include "catch.h"

using namespace dlcp;
using core::PacketSize;

namespace {

constexpr Time kStart = time_from_ns(1'000'000'000);

// Sends the round's questions, and answers those that a path of `mtu_payload` carries.
bool play_round(PacketSize& size, std::uint32_t mtu_payload) {
  static std::uint32_t echo = 0;
  std::vector<std::uint32_t> arrived;
  while (const auto question = size.next_question()) {
    size.on_asked(++echo);
    if (*question <= mtu_payload) arrived.push_back(echo);
  }
  bool grew = false;
  for (const std::uint32_t answered : arrived)
    grew = size.on_answered(answered) || grew;
  return grew;
}

// Rounds until packets shrink; 0 if ten do not do it.
int rounds_to_shrink(PacketSize& size, std::uint32_t mtu_payload) {
  for (int round = 0; round <= 10; ++round) {
    if (size.on_fruitless(kStart)) return round;
    play_round(size, mtu_payload);
  }
  return 0;
}

}  // namespace

TEST_CASE("packets begin as large as was agreed, and ask nothing") {
  PacketSize size;
  size.agree(8832);
  REQUIRE(size.payload_bytes() == 8832);
  REQUIRE_FALSE(size.shrunk());
  REQUIRE_FALSE(size.next_question());
  REQUIRE(size.next_timeout() == kNever);
}

TEST_CASE("a round asks the agreed size twice and every common one below it") {
  PacketSize size;
  size.agree(8832);
  REQUIRE_FALSE(size.on_fruitless(kStart));
  std::vector<std::uint32_t> asked;
  while (const auto question = size.next_question()) {
    asked.push_back(*question);
    size.on_asked(static_cast<std::uint32_t>(asked.size()));
  }
  REQUIRE(asked == std::vector<std::uint32_t>{8832, 4096, 1408, 1280, 1152, 384, 8832});
}

TEST_CASE(
    "three rounds without an answer to the current size make packets as large as is answered") {
  PacketSize size;
  size.agree(8832);
  REQUIRE(rounds_to_shrink(size, 1408) == 3);
  REQUIRE(size.payload_bytes() == 1408);
  REQUIRE(rounds_to_shrink(size, 1200) == 3);
  REQUIRE(size.payload_bytes() == 1152);
}

TEST_CASE("an answer to the current size clears it of suspicion") {
  PacketSize size;
  size.agree(8832);
  REQUIRE(rounds_to_shrink(size, 8832) == 0);
  REQUIRE(size.payload_bytes() == 8832);
  for (int round = 0; round < 2; ++round) {
    REQUIRE_FALSE(size.on_fruitless(kStart));
    play_round(size, 1408);
  }
  REQUIRE_FALSE(size.on_fruitless(kStart));
  play_round(size, 8832);
  REQUIRE(rounds_to_shrink(size, 1408) == 3);  // counted anew
}

TEST_CASE("progress clears the size of suspicion as well") {
  PacketSize size;
  size.agree(8832);
  for (int round = 0; round < 3; ++round) {
    REQUIRE_FALSE(size.on_fruitless(kStart));
    play_round(size, 1408);
  }
  size.on_progress();
  REQUIRE(rounds_to_shrink(size, 1408) == 3);
}

TEST_CASE("silence makes no packet smaller") {
  PacketSize size;
  size.agree(8832);
  REQUIRE(rounds_to_shrink(size, 0) == 0);
  REQUIRE(size.payload_bytes() == 8832);
}

TEST_CASE("shrunk packets grow when two rounds of larger questions were answered") {
  PacketSize size;
  size.agree(8832);
  rounds_to_shrink(size, 1152);
  const Time first = size.next_timeout();
  REQUIRE(first > kStart);
  REQUIRE(first <= kStart + 300ms);
  size.on_timeout(first - 1ns);
  REQUIRE_FALSE(size.next_question());
  size.on_timeout(first);
  REQUIRE_FALSE(play_round(size, 4096));
  REQUIRE(size.payload_bytes() == 1152);
  size.on_timeout(size.next_timeout());
  REQUIRE(play_round(size, 8832));
  REQUIRE(size.payload_bytes() == 4096);  // what both rounds have carried
  size.on_timeout(size.next_timeout());
  REQUIRE(play_round(size, 8832));
  REQUIRE_FALSE(size.shrunk());
  REQUIRE(size.next_timeout() == kNever);
}

TEST_CASE("one answer in three rounds makes no packet larger") {
  PacketSize size;
  size.agree(8832);
  rounds_to_shrink(size, 1152);
  for (int round = 0; round < 9; ++round) {
    size.on_timeout(size.next_timeout());
    REQUIRE_FALSE(play_round(size, round % 3 == 0 ? 8832 : 1152));
  }
  REQUIRE(size.payload_bytes() == 1152);
}

TEST_CASE("an echo that nobody asked for changes nothing") {
  PacketSize size;
  size.agree(8832);
  REQUIRE_FALSE(size.on_answered(0));
  rounds_to_shrink(size, 1408);
  REQUIRE_FALSE(size.on_answered(0));
  REQUIRE(size.payload_bytes() == 1408);
}
