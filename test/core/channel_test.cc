#include "core/channel/channel.h"

#include "catch.h"
#include "core/channel/replay_window.h"
#include "toy_cipher.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

const wire::Key kOurs{1, 2};
const wire::Key kTheirs{3, 4};
constexpr wire::HostAddress kPeer{{10, 0}};

struct Scene {
  // A control frame of the peer.
  std::optional<Counter> control(std::uint32_t sequence, const wire::Key& key = kTheirs,
                                 const wire::HostAddress& from = kPeer) {
    wire::encode(wire::Ping{7}, bytes);
    wire::seal(bytes, key, sequence, 0);
    return channel.refuse_control({.bytes = bytes, .arrived_at = {}, .source = from});
  }
  std::optional<Counter> data(std::uint8_t path, std::uint32_t sequence,
                              const wire::Key& key = kTheirs,
                              const wire::HostAddress& from = kPeer) {
    wire::DataHeader header;
    header.path = path;
    header.path_sequence = sequence;
    bytes.resize(wire::kDataHeaderBytes);
    wire::encode_data(header, {}, {key}, bytes);
    wire::DataPacket data{header, {}};
    return channel.refuse_data({.bytes = bytes, .arrived_at = {}, .source = from}, data);
  }

  Channel channel{kOurs, {kTheirs, wire::Protection::kHeader}, kPeer};
  wire::Buffer bytes;
};

}  // namespace

TEST_CASE("each control frame is accepted once, in any order") {
  Scene s;
  CHECK_FALSE(s.control(5));
  CHECK(s.channel.last_is_newest());
  CHECK_FALSE(s.control(3));
  CHECK_FALSE(s.channel.last_is_newest());
  CHECK(s.control(3) == Counter::kDroppedReplayed);
  CHECK(s.control(5) == Counter::kDroppedReplayed);
  CHECK_FALSE(s.control(6));
  CHECK(s.channel.last_is_newest());
}

TEST_CASE("each data packet is accepted once on its path") {
  Scene s;
  CHECK_FALSE(s.data(0, 0));
  CHECK(s.data(0, 0) == Counter::kDroppedReplayed);
  CHECK_FALSE(s.data(255, 0));
  CHECK_FALSE(s.data(0, 1));
}

TEST_CASE("a packet number is used up by the first packet that decrypts, and not decrypted again") {
  const test::ToyCiphers ciphers;
  constexpr auto kEncrypted = wire::Protection::kEncrypted;
  Channel channel(kOurs, {kTheirs, kEncrypted}, kPeer, &ciphers);
  wire::DataHeader header;
  wire::Buffer packet(wire::kDataHeaderBytes + 128 + wire::kCipherTagBytes);
  const auto head = std::span(packet).first(wire::kDataHeaderBytes);
  const auto sealed = std::span(packet).subspan(wire::kDataHeaderBytes);
  wire::encode_data(header, {}, {kTheirs, kEncrypted}, head);
  const wire::Buffer plain(128, std::byte{9});
  ciphers.make(wire::payload_key(kTheirs))->seal(wire::nonce_of(0, 0), head, plain, sealed);
  const auto refuse = [&](std::byte damage) {
    sealed[5] ^= damage;
    wire::DataPacket data{header, sealed};
    const auto reason =
        channel.refuse_data({.bytes = packet, .arrived_at = {}, .source = kPeer}, data);
    sealed[5] ^= damage;
    return reason;
  };
  CHECK(refuse(std::byte{1}) == Counter::kDroppedUnauthentic);
  CHECK_FALSE(refuse(std::byte{0}));
  // Decrypting it would report the damage instead.
  CHECK(refuse(std::byte{1}) == Counter::kDroppedReplayed);
}

TEST_CASE("a packet with a wrong tag or another source is dropped and does not use up its number") {
  Scene s;
  CHECK(s.control(1, kOurs) == Counter::kDroppedUnauthentic);
  CHECK(s.control(1, kTheirs, {{11, 0}}) == Counter::kDroppedForeignHost);
  CHECK_FALSE(s.control(1));
  CHECK(s.data(0, 1, kOurs) == Counter::kDroppedUnauthentic);
  CHECK(s.data(0, 1, kTheirs, {{10, 1}}) == Counter::kDroppedForeignHost);
  CHECK_FALSE(s.data(0, 1, kTheirs, {}));  // a network that does not report the source
}

TEST_CASE("with new keys the peer's numbers restart, and the local ones continue") {
  Scene s;
  CHECK(s.channel.next_sequence() == 0);
  CHECK_FALSE(s.control(0));
  s.channel.rekey(kOurs, {5, 6});
  CHECK(s.control(1) == Counter::kDroppedUnauthentic);
  CHECK_FALSE(s.control(0, {5, 6}));
  CHECK(s.channel.next_sequence() == 1);
}

TEST_CASE("a replay window distinguishes numbers within its range and refuses those below it") {
  ReplayWindow window;
  CHECK(window.accept(10'000));
  CHECK(window.accept(10'000 - ReplayWindow::kReach));
  CHECK_FALSE(window.accept(10'000 - ReplayWindow::kReach));
  CHECK_FALSE(window.accept(10'000 - ReplayWindow::kReach - 64));
  CHECK_FALSE(window.accept(~std::uint64_t{0}));  // before the first
  CHECK(window.accept(1'000'000));                // a jump discards the whole window
  for (std::uint64_t i = 1; i < ReplayWindow::kReach; ++i)
    CHECK(window.accept(1'000'000 - i));
}

TEST_CASE("a replay window accepts each number once, also where 32 bits wrap") {
  ReplayWindow window;
  Rng rng(7);
  const std::uint64_t start = (std::uint64_t{1} << 32) - 2000;
  CHECK(window.accept(start));
  std::vector<int> taken(4000);
  for (std::uint64_t i = 1; i < 3000; ++i) {
    for (int k = 0; k < 3; ++k) {
      const std::uint64_t offset = i - std::min<std::uint64_t>(i - 1, rng.below(900));
      const auto low = static_cast<std::uint32_t>(start + offset);
      REQUIRE(window.expand(low) == start + offset);
      taken[offset] += window.accept(window.expand(low)) ? 1 : 0;
    }
  }
  CHECK(*std::max_element(taken.begin(), taken.end()) == 1);
}
