// The messages that the ranks of a group exchange during set-up. Each is a message on a connection
// of the group, so it cannot be lost or forged.
//
// Layout, little-endian: magic (4 bytes), version (1), word (1), lane (1), rail (low 4 bits) and
// number of rails (1), rank (4), ranks (4), group (8). The terms follow: granule (4), largest block
// (4), speed in Mbit/s (4), always (1), fill (1), hubs (2), plan (8), loss (4), list of hubs (8),
// staging (8). Then follow the places of further rails, kRailsMax - 1 of them: listener (4), its
// secret (16), size of its address (1), address (60).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "collective/calls/transfer.h"
#include "collective/exchange/layout.h"
#include "engine/opening/opening.h"
#include "util/result.h"
#include "wire/codec.h"

namespace dlcp::engine {

struct GroupWord {
  enum class Word : std::uint8_t {
    kIntroduction = 1,  // the first message of every connection: its sender and purpose
    kReady = 2,         // to rank 0: this rank has all its connections
    kCommit = 3,        // from rank 0: all ranks have all their connections
  };
  static constexpr std::uint32_t kRailsMax = 4;
  static constexpr std::size_t kRailBytes = 81;
  static constexpr std::size_t kPlacesAt = 68;
  static constexpr std::size_t kBytes = kPlacesAt + (kRailsMax - 1) * kRailBytes;
  using Bytes = std::array<std::byte, kBytes>;
  using Places = std::array<Opening::Peer, kRailsMax - 1>;

  Word word = Word::kIntroduction;
  collective::Transfer::Lane lane = collective::Transfer::Lane::kContributions;
  std::uint32_t rank = 0;  // of the sender; hubs are numbered after the ranks
  std::uint32_t ranks = 0;
  std::uint16_t hubs = 0;      // number of hubs, which own all blocks; 0: the ranks own them
  std::uint64_t hub_list = 0;  // hash of the hubs in DLCP_COLLNET_HUBS; 0: none
  std::uint64_t group = 0;     // NCCL's identifier of the communicator; 0 if there is none
  std::uint32_t granule = 0;
  std::uint32_t block_bytes_max = 0;
  std::uint32_t speed_mbps = 0;  // of the sender's device; in kCommit, of the slowest
  bool always = false;           // use direct exchange wherever possible
  std::uint64_t plan = 0;        // hash of the plan in DLCP_PLAN; 0: none
  std::uint64_t staging = 0;     // bytes for data of other ranks, on each rank or each hub
  std::uint32_t loss_ppm = 0;    // share of each tensor's contributions that may be lost
  collective::LossFill fill = collective::LossFill::kZero;
  std::uint8_t rail = 0;   // the rail of the connection
  std::uint8_t rails = 1;  // number of devices that this member can use for the group
  Places places{};         // its listeners on the rails after the first

  std::uint32_t members() const { return ranks + hubs; }
  bool is_hub() const { return rank >= ranks; }
};
// Formats "rank 3", or "hub 0" for members after the ranks.
std::string member_name(const GroupWord& of, std::uint32_t member);

GroupWord::Bytes encode(const GroupWord& word);
// Errors describe the message; the reader adds the connection's peer.
Result<GroupWord> decode_group_word(std::span<const std::byte> bytes);

// Where a member listens, as in the places of rails.
using PlaceBytes = std::array<std::byte, GroupWord::kRailBytes>;
PlaceBytes encode_place(const Opening::Peer& place);
Opening::Peer read_place(wire::Reader& in);

// Checks that both describe the same group with the same layout; the error names the difference.
// `theirs` is from the rank that it contains.
Status check_same_group(const GroupWord& ours, const GroupWord& theirs);

}  // namespace dlcp::engine
