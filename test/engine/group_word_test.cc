#include "engine/group_word.h"

#include "catch.h"

using namespace dlcp::engine;
using dlcp::collective::LossFill;
using dlcp::collective::Transfer;

namespace {

GroupWord word() {
  GroupWord made;
  made.word = GroupWord::Word::kReady;
  made.lane = Transfer::Lane::kResults;
  made.rank = 6;
  made.ranks = 7;
  made.group = 0x0123'4567'89ab'cdef;
  made.granule = 1408;
  made.block_bytes_max = 64768;
  made.speed_mbps = 400'000;
  made.always = true;
  made.plan = 0xfedc'ba98'7654'3210;
  made.loss_ppm = 12'345;
  made.fill = LossFill::kRescale;
  return made;
}

}  // namespace

TEST_CASE("a group's word comes back as it was said") {
  auto read = decode_group_word(encode(word()));
  REQUIRE(read.ok());
  CHECK(read->word == GroupWord::Word::kReady);
  CHECK(read->lane == Transfer::Lane::kResults);
  CHECK(read->rank == 6);
  CHECK(read->ranks == 7);
  CHECK(read->group == 0x0123'4567'89ab'cdef);
  CHECK(read->granule == 1408);
  CHECK(read->block_bytes_max == 64768);
  CHECK(read->speed_mbps == 400'000);
  CHECK(read->always);
  CHECK(read->plan == 0xfedc'ba98'7654'3210);
  CHECK(read->loss_ppm == 12'345);
  CHECK(read->fill == LossFill::kRescale);
}

TEST_CASE("words of other lengths, versions and meanings are refused") {
  const auto bytes = encode(word());
  CHECK_FALSE(decode_group_word(std::span(bytes).first(39)).ok());
  CHECK_FALSE(decode_group_word({}).ok());
  const auto with = [&](std::size_t at, unsigned value) {
    auto changed = bytes;
    changed[at] = std::byte(value);
    return decode_group_word(changed).ok();
  };
  CHECK_FALSE(with(0, 0));
  CHECK_FALSE(with(4, 1));
  CHECK_FALSE(with(5, 0));
  CHECK_FALSE(with(5, 4));
  CHECK_FALSE(with(6, 2));
  CHECK_FALSE(with(8, 7));   // rank 7 of 7
  CHECK_FALSE(with(37, 2));  // fill
  CHECK(with(8, 0));
}

TEST_CASE("ranks that differ in what must be alike hear in what") {
  CHECK(check_same_group(word(), word()).ok());
  GroupWord other = word();
  other.group = 1;
  CHECK_THAT(check_same_group(word(), other).error().what, Contains("belongs to communicator 1"));
  other = word();
  other.granule = 1280;
  CHECK_THAT(check_same_group(word(), other).error().what, Contains("multiples of 1280"));
  other = word();
  other.plan = 0;
  CHECK_THAT(check_same_group(word(), other).error().what,
             Contains("DLCP_PLAN is not set on rank 6 and plan fedcba9876543210 on this one"));
  other = word();
  other.always = false;
  CHECK_THAT(check_same_group(word(), other).error().what,
             Contains("DLCP_COLLNET is 'auto' on rank 6 and 'on' on this one"));
  other = word();
  other.loss_ppm = 10'000;
  CHECK_THAT(check_same_group(word(), other).error().what,
             Contains("rank 6 may lose 1% of each all-reduce, this one 1.234%"));
  other = word();
  other.fill = LossFill::kZero;
  CHECK_THAT(check_same_group(word(), other).error().what,
             Contains("DLCP_LOSS_FILL is 'zero' on rank 6 and 'rescale' on this one"));
  GroupWord exact = word();
  other.loss_ppm = exact.loss_ppm = 0;
  CHECK(check_same_group(exact, other).ok());  // nobody loses anything
  other = word();
  other.speed_mbps = 1;  // may differ
  CHECK(check_same_group(word(), other).ok());
}
