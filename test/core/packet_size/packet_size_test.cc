// When packets shrink and grow, round by round.
#include "core/packet_size/packet_size.h"

#include <vector>

#include "catch.h"

using namespace dlcp;
using core::PacketSize;

namespace {

constexpr Time kStart = time_from_ns(1'000'000'000);

// Sends the round's probes and answers those that a path of `mtu_payload` carries.
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

// Rounds until packets shrink; 0 if ten rounds do not shrink them.
int rounds_to_shrink(PacketSize& size, std::uint32_t mtu_payload) {
  for (int round = 0; round <= 10; ++round) {
    if (size.on_fruitless(kStart)) return round;
    play_round(size, mtu_payload);
  }
  return 0;
}

}  // namespace

TEST_CASE("packets begin with the agreed size, and no probe is sent") {
  PacketSize size;
  size.agree(8832);
  REQUIRE(size.payload_bytes() == 8832);
  REQUIRE_FALSE(size.shrunk());
  REQUIRE_FALSE(size.next_question());
  REQUIRE(size.next_timeout() == kNever);
}

TEST_CASE("a round probes the agreed size twice and every common size below it once") {
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
    "after three rounds without an answer to the current size, packets shrink to an answered "
    "size") {
  PacketSize size;
  size.agree(8832);
  REQUIRE(rounds_to_shrink(size, 1408) == 3);
  REQUIRE(size.payload_bytes() == 1408);
  REQUIRE(rounds_to_shrink(size, 1200) == 3);
  REQUIRE(size.payload_bytes() == 1152);
}

TEST_CASE("an answer to the current size resets the count of failed rounds") {
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
  REQUIRE(rounds_to_shrink(size, 1408) == 3);  // counted from the beginning
}

TEST_CASE("progress resets the count of failed rounds as well") {
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

TEST_CASE("shrunk packets grow when larger probes were answered in two rounds") {
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
  REQUIRE(size.payload_bytes() == 4096);  // the size that passed in both rounds
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

TEST_CASE("an echo of no probe changes nothing") {
  PacketSize size;
  size.agree(8832);
  REQUIRE_FALSE(size.on_answered(0));
  rounds_to_shrink(size, 1408);
  REQUIRE_FALSE(size.on_answered(0));
  REQUIRE(size.payload_bytes() == 1408);
}
