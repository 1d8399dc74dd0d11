#include "wire/frames/placed_frame.h"

#include "catch.h"
#include "opened.h"

using namespace dlcp;
using namespace dlcp::wire;
using dlcp::test::opened;

TEST_CASE("the name of a placed packet has room for every slot, generation, chunk and flag") {
  const PlacedName least{};
  CHECK(least.pack() == 0);
  const PlacedName most{(1u << 14) - 1, 255, 255, true, true};
  CHECK(most.pack() == 0xffffffff);
  for (const PlacedName name : {least, most, PlacedName{5, 7, 9, false, true}})
    CHECK(PlacedName::unpack(name.pack()) == name);
  CHECK(PlacedName{5, 7, 9}.pack() + 1 == PlacedName{5, 7, 10}.pack());
}

TEST_CASE("LINK carries at most 200 bytes, and decoding refuses more") {
  Buffer bytes;
  Link link{42, Buffer(Link::kIntroductionBytesMax, std::byte{7})};
  encode(link, bytes);
  const auto decoded = opened<Link>(bytes);
  REQUIRE(decoded);
  CHECK(decoded->destination == 42);
  CHECK(decoded->introduction == link.introduction);
  link.introduction.push_back({});
  encode(link, bytes);
  CHECK_FALSE(opened<Link>(bytes));
}

TEST_CASE("PERMITS survives encoding and decoding, and refuses slots that do not exist") {
  Buffer bytes;
  Permits permits{42, {{1, 0xffffffff, 3, 0x3fff, 255, 0xabcdef01, 0x7fff'0000'1000, 1 << 20}}};
  encode(permits, bytes);
  const auto decoded = opened<Permits>(bytes);
  REQUIRE(decoded);
  CHECK(decoded->permits == permits.permits);
  permits.permits[0].slot = 0x4000;
  encode(permits, bytes);
  CHECK_FALSE(opened<Permits>(bytes));
  permits.permits[0] = {.bytes = 0};
  encode(permits, bytes);
  CHECK_FALSE(opened<Permits>(bytes));

  permits.permits.assign(permits_max(kControlFrameBytesMax), {.bytes = 1});
  encode(permits, bytes);
  seal(bytes, {}, 0, 0);
  CHECK(bytes.size() <= kControlFrameBytesMax);
  CHECK(bytes.size() > kControlFrameBytesMax - 29);
  CHECK(permits_max(10) == 0);
}

TEST_CASE(
    "an ACK names placed packets and closing messages; one without them has no room for them") {
  Ack ack;
  ack.paths = {{.path = 1}};
  StreamReport& stream = ack.add_stream();
  stream.messages = {{.message = 5, .first_missing = 3, .bitmap_words = 2, .closing = true},
                     {.message = 6, .bitmap_words = 1}};
  stream.bitmap = {1, 2, 3};
  Buffer without;
  encode(ack, without);
  ack.placed = {{2, 0x12345678, 99}, {7, 1, 0}};
  Buffer bytes;
  encode(ack, bytes);
  CHECK(bytes.size() == without.size() + 1 + 2 * 9);
  seal(bytes, {}, 0, 0);
  CHECK(bytes.size() == encoded_bytes(ack));
  Ack decoded;
  REQUIRE(decode_ack(bytes, decoded));
  REQUIRE(decoded.placed.size() == 2);
  CHECK(decoded.placed[0].path == 2);
  CHECK(decoded.placed[0].name == 0x12345678);
  CHECK(decoded.placed[0].held == 99);
  CHECK(decoded.streams()[0].messages[0].closing);
  CHECK(decoded.streams()[0].messages[0].bitmap_words == 2);
  CHECK_FALSE(decoded.streams()[0].messages[1].closing);
  CHECK(decoded.streams()[0].bitmap == std::vector<std::uint64_t>{1, 2, 3});
}
