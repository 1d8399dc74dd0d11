#include "wire/frames/loss_frame.h"

#include "catch.h"
#include "opened.h"

using namespace dlcp;
using namespace dlcp::wire;
using dlcp::test::opened;

TEST_CASE("the frames of bounded loss survive encoding and decoding") {
  Buffer bytes;
  encode(SentOnce{42, 7, 1 << 20, 1234, 3, true, {{3, 100}, {15, 0xffffffff}}}, bytes);
  const auto sent_once = opened<SentOnce>(bytes);
  REQUIRE(sent_once);
  CHECK(sent_once->destination == 42);
  CHECK(sent_once->message == 7);
  CHECK(sent_once->message_bytes == 1 << 20);
  CHECK(sent_once->echo == 1234);
  CHECK(sent_once->path == 3);
  CHECK(sent_once->urgent);
  CHECK(sent_once->marks == std::vector<PathMark>{{3, 100}, {15, 0xffffffff}});

  encode(Need{42, 7, 1234, 3}, bytes);
  const auto need = opened<Need>(bytes);
  REQUIRE(need);
  CHECK(need->message == 7);
  CHECK(need->echo == 1234);
  CHECK(need->path == 3);
  CHECK_FALSE(opened<Stop>(bytes));

  encode(Stop{42, 7, 2816, {{3, 1}, {0xffffffff, 9}}}, bytes);
  const auto stop = opened<Stop>(bytes);
  REQUIRE(stop);
  CHECK(stop->message == 7);
  CHECK(stop->lost_bytes == 2816);
  CHECK(stop->holes == std::vector<Hole>{{3, 1}, {0xffffffff, 9}});

  Stop largest;
  largest.holes.resize(holes_max(500));
  encode(largest, bytes);
  seal(bytes, {}, 0, 0);
  CHECK(bytes.size() <= 500);
  CHECK(bytes.size() > 492);
  CHECK(holes_max(10) == 0);
}

TEST_CASE("SENT_ONCE with a mark for each of 200 paths fits a control frame") {
  SentOnce frame;
  for (unsigned path = 0; path < 200; ++path)
    frame.marks.push_back({static_cast<std::uint8_t>(path), path});
  Buffer bytes;
  encode(frame, bytes);
  CHECK(bytes.size() <= kControlFrameBytesMax);
  REQUIRE(opened<SentOnce>(bytes));
  CHECK(opened<SentOnce>(bytes)->marks == frame.marks);
}

TEST_CASE("a SENT_ONCE whose count does not match its length is refused") {
  Buffer bytes;
  encode(SentOnce{.marks = {{1, 2}, {3, 4}}}, bytes);
  bytes[16 + 14] = std::byte{3};  // marks
  CHECK_FALSE(opened<SentOnce>(bytes));
  bytes[16 + 14] = std::byte{2};
  CHECK(opened<SentOnce>(bytes));
  bytes[16 + 13] = std::byte{2};  // neither urgent nor not
  CHECK_FALSE(opened<SentOnce>(bytes));
}
