#include "core/channel/channel.h"

#include <array>

#include "catch.h"
#include "core/channel/replay_window.h"
#include "toy_cipher.h"
#include "util/rng.h"
#include "wire/data/header_tags.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

const wire::Key kOurs{1, 2};
const wire::Key kTheirs{3, 4};
constexpr wire::HostAddress kPeer{{10, 0}};

struct Scene {
  // A control frame of the peer.
  std::optional<Counter> control(std::uint64_t sequence, const wire::Key& key = kTheirs,
                                 const wire::HostAddress& from = kPeer) {
    wire::encode(wire::CloseAck{7}, bytes);
    wire::seal(bytes, key, sequence, 0);
    return channel.refuse_control({.bytes = bytes, .arrived_at = {}, .source = from});
  }
  std::optional<Counter> data(std::uint8_t path, std::uint64_t number,
                              const wire::Key& key = kTheirs,
                              const wire::HostAddress& from = kPeer) {
    const wire::DataHeader header = header_of(path, number);
    bytes.resize(wire::kDataHeaderBytes);
    wire::encode_data(header, number, {}, {key}, bytes);
    wire::DataPacket data{header, {}};
    return channel.refuse_data({.bytes = bytes, .arrived_at = {}, .source = from}, data);
  }

  static wire::DataHeader header_of(std::uint8_t path, std::uint64_t number) {
    wire::DataHeader header;
    header.path = path;
    header.path_sequence = static_cast<std::uint32_t>(number);
    return header;
  }
  // Packets with these paths and numbers, all of one burst. The result is authentic_together()'s;
  // `reasons` become those of the single packets.
  using Names = std::array<std::pair<std::uint8_t, std::uint64_t>, wire::kTagsTogether>;
  bool burst(const Names& names) {
    std::array<wire::Buffer, wire::kTagsTogether> datagrams;
    std::vector<wire::RxPacket> packets;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto [path, number] = names[i];
      datagrams[i].resize(wire::kDataHeaderBytes);
      wire::encode_data(header_of(path, number), number, {}, {kTheirs}, datagrams[i]);
      packets.push_back({.bytes = datagrams[i], .arrived_at = {}, .source = kPeer});
    }
    const bool together =
        channel.authentic_together(packets, header_of(names[0].first, names[0].second));
    reasons.clear();
    for (const wire::RxPacket& packet : packets) {
      auto data = wire::decode_data(packet.bytes);
      reasons.push_back(channel.refuse_data(packet, *data, together));
    }
    return together;
  }
  // Both sequences have arrived up to this number, without those in between.
  void advance(std::uint64_t to) {
    for (std::uint64_t number = to % kStep; number <= to; number += kStep) {
      REQUIRE_FALSE(data(0, number));
      REQUIRE_FALSE(control(number));
    }
  }
  static constexpr std::uint64_t kStep = std::uint64_t{1} << 30;

  std::vector<std::optional<Counter>> reasons;
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
  wire::encode_data(header, 0, {}, {kTheirs, kEncrypted}, head);
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

namespace {

constexpr std::uint64_t kRound = std::uint64_t{1} << 32;

}  // namespace

TEST_CASE("a recorded packet is refused however many numbers later, and genuine ones continue") {
  for (const std::uint64_t later :
       {kRound / 2 + 6, kRound, kRound + 5, 3 * kRound / 2 + 1000, 2 * kRound + 5, 9 * kRound}) {
    INFO(later << " numbers later");
    Scene s;
    REQUIRE_FALSE(s.data(0, 5));
    const wire::Buffer recorded_data = s.bytes;
    REQUIRE_FALSE(s.control(5));
    const wire::Buffer recorded_frame = s.bytes;
    s.advance(later + 10);
    const std::uint64_t next = later + 11;
    auto data = wire::decode_data(recorded_data);
    REQUIRE(data);
    CHECK(
        s.channel.refuse_data({.bytes = recorded_data, .arrived_at = {}, .source = kPeer}, *data));
    CHECK(s.channel.refuse_control({.bytes = recorded_frame, .arrived_at = {}, .source = kPeer}));
    for (std::uint64_t number = next; number < next + 3000; ++number) {
      REQUIRE_FALSE(s.data(0, number));
      REQUIRE_FALSE(s.control(number));
      REQUIRE(s.data(0, number) == Counter::kDroppedReplayed);
    }
  }
}

TEST_CASE("packets recorded 2^31 numbers ago and expanded forward have a wrong tag") {
  Scene s;
  REQUIRE_FALSE(s.data(0, 5));
  s.advance(kRound / 2 + 1000);
  CHECK(s.data(0, 5) == Counter::kDroppedUnauthentic);
  CHECK(s.control(5) == Counter::kDroppedUnauthentic);
  CHECK_FALSE(s.data(0, kRound + 5));  // the number that 5 was expanded to is still free
}

TEST_CASE("packets continue across 2^32 in any order, alone or in bursts") {
  Scene s;
  s.advance(kRound - 200);
  Rng rng(3);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = kRound - 199; number < kRound + 201; ++number)
    numbers.push_back(number);
  for (std::size_t i = numbers.size(); i > 1; --i)
    std::swap(numbers[i - 1], numbers[rng.below(i)]);
  for (const std::uint64_t number : numbers) {
    REQUIRE_FALSE(s.control(number));
    REQUIRE_FALSE(s.data(0, number));
  }
  Scene bursts;
  bursts.advance(kRound - 200);
  for (std::size_t i = 0; i < numbers.size(); i += wire::kTagsTogether) {
    Scene::Names names;
    for (std::size_t k = 0; k < names.size(); ++k)
      names[k] = {std::uint8_t{0}, numbers[i + k]};
    bursts.burst(names);
    for (const auto& reason : bursts.reasons)
      REQUIRE_FALSE(reason);
  }
}

TEST_CASE("a run is accepted as a whole only if it is newer than all before it") {
  Scene s;
  std::vector<wire::TxPacket> sent(8);
  const auto run = [&](std::uint64_t number, wire::PathIndex path = 0) {
    wire::encode_run(Scene::header_of(path, number), 0, sent);
    wire::seal_headers(kTheirs, number, sent);
    std::vector<wire::RxPacket> packets;
    for (const wire::TxPacket& packet : sent)
      packets.push_back({.bytes = std::span(packet.header).first(wire::kDataHeaderBytes),
                         .arrived_at = {},
                         .source = kPeer});
    return packets;
  };
  const auto count = [&](std::uint64_t number, wire::PathIndex path = 0) {
    return s.channel.authentic_run(run(number, path), Scene::header_of(path, number));
  };
  CHECK(count(0) == 0);  // the path is not known yet
  REQUIRE_FALSE(s.data(0, 0));
  CHECK(count(1) == 8);
  CHECK(count(1) == 8);  // nothing has been accepted
  s.channel.accept_run(Scene::header_of(0, 1), 8);
  CHECK(count(1) == 0);
  CHECK(count(8) == 0);
  CHECK(count(9, 1) == 0);
  CHECK(count(kRound + 9) == 0);  // other kUnsentBits
  for (std::uint64_t number = 0; number <= 8; ++number)
    CHECK(s.data(0, number) == Counter::kDroppedReplayed);
  CHECK(count(12) == 8);
  auto foreign = run(12);
  foreign.front().source = {{9, 9}};
  CHECK(s.channel.authentic_run(foreign, Scene::header_of(0, 12)) == 0);
}

TEST_CASE("a burst over paths with different high halves is checked packet by packet") {
  Scene s;
  s.advance(kRound + 10);
  REQUIRE_FALSE(s.data(1, 0));
  CHECK(s.burst({{{0, kRound + 11}, {0, kRound + 12}, {0, kRound + 13}, {0, kRound + 14}}}));
  CHECK(s.burst({{{1, 1}, {1, 2}, {2, 0}, {2, 1}}}));
  CHECK_FALSE(s.burst({{{0, kRound + 15}, {1, 3}, {0, kRound + 16}, {1, 4}}}));
  for (const auto& reason : s.reasons)
    CHECK_FALSE(reason);
  // Sealed for the high half of the burst, but not for that of its own path: a tag is good for one
  // number only.
  CHECK(s.burst({{{0, kRound + 17}, {0, kRound + 18}, {1, kRound + 5}, {1, kRound + 6}}}));
  CHECK_FALSE(s.reasons[0]);
  CHECK_FALSE(s.reasons[1]);
  CHECK(s.reasons[2] == Counter::kDroppedUnauthentic);
  CHECK(s.reasons[3] == Counter::kDroppedUnauthentic);
}

TEST_CASE("a forged packet on a path that has no packets yet is refused, also after 2^32 numbers") {
  Scene s;
  CHECK(s.data(9, 0, kOurs) == Counter::kDroppedUnauthentic);
  CHECK(s.data(9, kRound) == Counter::kDroppedUnauthentic);
  CHECK_FALSE(s.data(9, 0));
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

TEST_CASE("a run of new numbers counts like its numbers one by one") {
  Rng rng(11);
  ReplayWindow one_by_one, in_runs;
  std::uint64_t next = (std::uint64_t{1} << 32) - 3000;
  for (int i = 0; i < 500; ++i) {
    next += rng.below(i % 50 == 0 ? 3000 : 3);
    const std::uint64_t count = 1 + rng.below(130);
    for (std::uint64_t k = 0; k < count; ++k)
      REQUIRE(one_by_one.accept(next + k));
    in_runs.accept_run(next, count);
    next += count;
    REQUIRE(in_runs.next() == one_by_one.next());
    for (std::uint64_t back = 1; back < ReplayWindow::kReach + 70; ++back)
      REQUIRE(in_runs.has(next - back) == one_by_one.has(next - back));
  }
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
