#include "engine/group/group_word.h"

#include <array>
#include <cstdlib>

#include "catch.h"
#include "engine/group/group_links.h"

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
  made.hubs = 3;
  made.hub_list = 0x1122'3344'5566'7788;
  made.staging = 0x99aa'bbcc'ddee'ff00;
  made.rails = 3;
  made.rail = 2;
  made.places[1].listener = {17, {18, 19}};
  made.places[1].address.size = 60;
  made.places[1].address.bytes[59] = std::byte{20};
  return made;
}

}  // namespace

TEST_CASE("a group word survives encoding and decoding") {
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
  CHECK(read->hubs == 3);
  CHECK(read->hub_list == 0x1122'3344'5566'7788);
  CHECK(read->staging == 0x99aa'bbcc'ddee'ff00);
  CHECK(read->rails == 3);
  CHECK(read->rail == 2);
  CHECK(read->places[1].listener.number == 17);
  CHECK(read->places[1].listener.secret.high == word().places[1].listener.secret.high);
  CHECK(read->places[1].address == word().places[1].address);
  CHECK(read->places[0].address.size == 0);
}

TEST_CASE("group words of other lengths, versions and values are refused") {
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
  CHECK_FALSE(with(7, 0x33));  // rails are counted from 0
  CHECK_FALSE(with(7, 0x00));
  CHECK_FALSE(with(7, 0x50));
  CHECK(with(7, 0x40));
  CHECK_FALSE(with(GroupWord::kPlacesAt + 81 + 20, 61));  // an address
  CHECK_FALSE(with(8, 10));                               // beyond 7 ranks and 3 hubs
  CHECK(with(8, 9));                                      // a hub
  CHECK_FALSE(with(37, 2));                               // fill
  CHECK(with(8, 0));
}

TEST_CASE("ranks with different settings that must be equal get an error that names the setting") {
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
             Contains("DLCP_PLAN is not set on rank 6, but plan fedcba9876543210 on this rank"));
  other = word();
  other.always = false;
  CHECK_THAT(check_same_group(word(), other).error().what,
             Contains("DLCP_COLLNET is 'auto' on rank 6, but 'on' on this rank"));
  other = word();
  other.loss_ppm = 10'000;
  CHECK_THAT(check_same_group(word(), other).error().what,
             Contains("rank 6 may lose 1% of each all-reduce, but this rank may lose 1.234%"));
  other = word();
  other.fill = LossFill::kZero;
  CHECK_THAT(check_same_group(word(), other).error().what,
             Contains("DLCP_LOSS_FILL is 'zero' on rank 6, but 'rescale' on this rank"));
  other = word();
  other.staging = 1 << 20;
  CHECK_THAT(check_same_group(word(), other).error().what,
             Contains("DLCP_COLLNET_MEMORY is 1048576 bytes on rank 6, but"));
  other = word();
  other.hub_list = 7;
  CHECK_THAT(check_same_group(word(), other).error().what,
             Contains("DLCP_COLLNET_HUBS names 3 hubs (list 0000000000000007) on rank 6, but 3 "
                      "(1122334455667788) on this rank"));
  other = word();
  other.fill = LossFill::kZero;
  GroupWord exact = word();
  other.loss_ppm = exact.loss_ppm = 0;
  CHECK(check_same_group(exact, other).ok());  // both exact
  other = word();
  other.speed_mbps = 1;  // may differ
  CHECK(check_same_group(word(), other).ok());
}

TEST_CASE(
    "without hubs all ranks are linked; with hubs ranks are linked to hubs, and to rank 0 for "
    "set-up") {
  constexpr auto kFirst = Transfer::Lane::kContributions;
  constexpr auto kSecond = Transfer::Lane::kResults;
  CHECK(linked(3, 0, 1, 2, kSecond));
  CHECK_FALSE(linked(3, 0, 2, 2, kFirst));
  for (const auto lane : {kFirst, kSecond}) {
    CHECK(linked(3, 2, 1, 4, lane));        // a rank to a hub
    CHECK_FALSE(linked(3, 2, 1, 2, lane));  // ranks
    CHECK_FALSE(linked(3, 2, 3, 4, lane));  // hubs
    CHECK_FALSE(linked(3, 2, 4, 4, lane));
  }
  CHECK(linked(3, 2, 4, 1, kSecond));
  CHECK_FALSE(linked(3, 2, 4, 1, kFirst));
  CHECK(linked(3, 2, 4, 0, kFirst));
  CHECK(linked(3, 2, 0, 2, kFirst));
  CHECK(linked(3, 2, 2, 0, kFirst));
  CHECK_FALSE(linked(3, 2, 2, 0, kSecond));
}

TEST_CASE("both ends of a transfer compute the same rail, and all rails of a group get equal use") {
  constexpr std::uint32_t kRanks = 5, kRails = 3;
  std::array<int, kRails> used{};
  for (std::uint64_t call = 0; call < 4; ++call) {
    for (std::uint32_t block = 0; block < 4 * kRanks; ++block) {
      for (std::uint32_t from = 0; from < kRanks; ++from) {
        const auto to = static_cast<std::uint32_t>((call + block) % kRanks);
        if (from == to) continue;
        const GroupLinks sender(kRanks, from, kRails), receiver(kRanks, to, kRails);
        Transfer transfer;
        transfer.block = block;
        transfer.call = call;
        transfer.sends = true;
        transfer.peer = to;
        const auto rail = sender.index(transfer) / (kRanks * GroupLinks::kPerPeer);
        CHECK(sender.index(transfer) ==
              sender.index(to, transfer.lane, true, static_cast<std::uint32_t>(rail)));
        transfer.sends = false;
        transfer.peer = from;
        CHECK(receiver.index(transfer) ==
              receiver.index(from, transfer.lane, false, static_cast<std::uint32_t>(rail)));
        ++used[rail];
      }
    }
  }
  for (const int each : used)
    CHECK(std::abs(each - (used[0] + used[1] + used[2]) / 3) <= 16);  // of 106
  CHECK(GroupLinks(kRanks, 1, 1).index({}) == 0);
}
