#include "engine/hub/hub_word.h"

#include "catch.h"

using namespace dlcp;
using namespace dlcp::engine;

namespace {

constexpr HubChallenge kChallenge{3, 4};
constexpr wire::Key kToken{5, 6};

HubJoin join() {
  HubJoin made;
  made.job = {1, 2};
  made.us.ranks = 8;
  made.us.rank = 3;
  made.us.hubs = 4;
  made.us.granule = 1408;
  made.us.block_bytes_max = 64768;
  made.hub = 2;
  made.us.staging = 1 << 26;
  made.timeout_s = 30;
  made.secret_fingerprint = 0x90000001;
  made.encrypts = true;
  made.peer.listener = {17, {18, 19}};
  made.peer.address.size = 5;
  made.peer.address.bytes[4] = std::byte{20};
  return made;
}

}  // namespace

TEST_CASE("messages between ranks and hubs survive encoding and decoding") {
  const HubFrame challenge = encode(kChallenge);
  CHECK(hub_frame_bytes(challenge) == challenge.size());
  CHECK(decode_hub_challenge(challenge).value() == kChallenge);
  auto read = decode_hub_join(encode(join(), kChallenge, kToken), kChallenge, kToken);
  REQUIRE(read.ok());
  CHECK(read->job == join().job);
  CHECK(encode(read->us) == encode(join().us));
  CHECK(read->hub == 2);
  CHECK(read->us.staging == 1 << 26);
  CHECK(read->timeout_s == 30);
  CHECK(read->secret_fingerprint == 0x90000001);
  CHECK(read->encrypts);
  CHECK(read->peer.listener == join().peer.listener);
  CHECK(read->peer.address == join().peer.address);
  const HubAnswer answer{"", join().peer};
  auto answered = decode_hub_answer(encode(answer, kChallenge, kToken), kChallenge, kToken);
  REQUIRE(answered.ok());
  CHECK(answered->refusal.empty());
  CHECK(answered->peer.listener == join().peer.listener);
}

TEST_CASE("a message is valid for one challenge and one token; a refusal for any") {
  const HubFrame frame = encode(join(), kChallenge, kToken);
  const auto what = [&](const HubChallenge& challenge, const wire::Key& token) {
    return decode_hub_join(frame, challenge, token).error();
  };
  CHECK(what({3, 5}, kToken).what == "the tokens of the rank and the hub differ");
  CHECK(what(kChallenge, {}).code == ErrorCode::kInvalidUsage);
  const HubAnswer granted{"", join().peer}, refused{"full", {}};
  CHECK_FALSE(decode_hub_answer(encode(granted, kChallenge, {}), kChallenge, kToken).ok());
  CHECK(decode_hub_answer(encode(refused, kChallenge, {}), kChallenge, kToken)->refusal == "full");
  const std::string everything(1000, 'x');
  const HubFrame longest = encode(HubAnswer{everything, {}}, kChallenge, kToken);
  CHECK(longest.size() <= kHubFrameBytesMax);
  CHECK(decode_hub_answer(longest, kChallenge, kToken)->refusal.size() == 200);
}

TEST_CASE("impossible groups, and truncated or changed messages, are refused") {
  const auto refused = [](auto change) {
    HubJoin wrong = join();
    change(wrong);
    return !decode_hub_join(encode(wrong, kChallenge, kToken), kChallenge, kToken).ok();
  };
  CHECK(refused([](HubJoin& j) { j.hub = 4; }));
  CHECK(refused([](HubJoin& j) { j.us.rank = 8; }));                    // a hub
  CHECK(refused([](HubJoin& j) { j.us.rails = 2; }));                   // a group with hubs has one
  CHECK(refused([](HubJoin& j) { j.us.granule = 64; }));                // many small calls
  CHECK(refused([](HubJoin& j) { j.us.block_bytes_max = 16 << 10; }));  // many small blocks
  CHECK(refused([](HubJoin& j) { j.us.granule = j.us.block_bytes_max + 1; }));
  CHECK(refused([](HubJoin& j) { j.us.loss_ppm = 1'000'001; }));
  CHECK(refused([](HubJoin& j) { j.peer.address.size = 61; }));
  CHECK_FALSE(refused([](HubJoin&) {}));
  const HubFrame frame = encode(join(), kChallenge, kToken);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    HubFrame changed = frame;
    changed[i] ^= std::byte{0x10};
    CHECK_FALSE(decode_hub_join(changed, kChallenge, kToken).ok());
    CHECK_FALSE(decode_hub_join(std::span(frame).first(i), kChallenge, kToken).ok());
  }
}

TEST_CASE("a frame's length follows from its first bytes, and non-frames are detected after six") {
  const HubFrame frame = encode(kChallenge);
  CHECK_FALSE(hub_frame_bytes(std::span(frame).first(1)));
  CHECK(hub_frame_bytes(std::span(frame).first(2)) == frame.size());
  HubFrame other = frame;
  other[2] = std::byte{'X'};
  CHECK(hub_frame_bytes(other) == 0u);
  other = frame;
  other[1] = std::byte{2};  // 534 bytes
  CHECK(hub_frame_bytes(other) == 0u);
}

TEST_CASE("hubs are named by host and port, each once") {
  const auto places = parse_hub_places("a,b:1,10.0.0.1:48890,[fe80::1]:7,::1").value();
  REQUIRE(places.size() == 5);
  CHECK(places[0] == HubPlace{"a", kHubPort});
  CHECK(places[1] == HubPlace{"b", 1});
  CHECK(places[3] == HubPlace{"fe80::1", 7});
  CHECK(places[4] == HubPlace{"::1", kHubPort});
  CHECK(to_string(places[3]) == "[fe80::1]:7");
  CHECK(to_string(places[0]) == "a:48890");
  CHECK(parse_hub_places("").value().empty());
  for (const char* wrong :
       {",a", "a:0", "a:65536", "a:b", "a,a", "a,a:48890", "[::1", "[::1]x80", "a b", ":1"})
    CHECK_FALSE(parse_hub_places(wrong).ok());
  CHECK(hash_of({}) == 0);
  CHECK(hash_of(places) != hash_of(std::span(places).first(4)));
}
