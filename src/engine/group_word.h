// What the ranks of a group say to each other while it is being set up: each a message of its own
// on a connection of the group, so that nothing of it is lost or forged.
//
// Layout, little-endian: magic (4), version (1), word (1), lane (1), rail (low 4 bits)
// and number of rails (1), rank (4), ranks (4),
// group (8), granule (4), largest block (4), speed in Mbit/s (4), always (1), fill (1), hubs (2),
// plan (8), loss (4), list of hubs (8); then places of further rails, kRailsMax - 1 of them:
// listener (4), its secret (16), size of its address (1), address (60).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "collective/layout.h"
#include "collective/transfer.h"
#include "engine/opening.h"
#include "util/result.h"

namespace dlcp::engine {

struct GroupWord {
  enum class Word : std::uint8_t {
    kIntroduction = 1,  // the first message of every connection: whose it is, and what for
    kReady = 2,         // to rank 0: this rank has all its connections
    kCommit = 3,        // from rank 0: all ranks have
  };
  static constexpr std::uint32_t kRailsMax = 4;
  static constexpr std::size_t kRailBytes = 81;
  static constexpr std::size_t kBytes = 60 + (kRailsMax - 1) * kRailBytes;
  using Bytes = std::array<std::byte, kBytes>;
  using Places = std::array<Opening::Peer, kRailsMax - 1>;

  Word word = Word::kIntroduction;
  collective::Transfer::Lane lane = collective::Transfer::Lane::kContributions;
  std::uint32_t rank = 0;  // who speaks; hubs are numbered behind the ranks
  std::uint32_t ranks = 0;
  std::uint16_t hubs = 0;      // that own all blocks; 0: the ranks do
  std::uint64_t hub_list = 0;  // hash of what DLCP_COLLNET_HUBS names; 0: none
  std::uint64_t group = 0;     // NCCL's number of the communicator; 0 where it has none
  std::uint32_t granule = 0;
  std::uint32_t block_bytes_max = 0;
  std::uint32_t speed_mbps = 0;  // of its device; with kCommit, of the slowest
  bool always = false;           // direct exchange wherever it can be
  std::uint64_t plan = 0;        // hash of what DLCP_PLAN names; 0: none
  std::uint32_t loss_ppm = 0;    // of each tensor's contributions, that may be lost
  collective::LossFill fill = collective::LossFill::kZero;
  std::uint8_t rail = 0;   // that the connection is on
  std::uint8_t rails = 1;  // devices of this member's that it can use for the group
  Places places{};         // where it listens on those but the first

  std::uint32_t members() const { return ranks + hubs; }
  bool is_hub() const { return rank >= ranks; }
};
// "rank 3"; "hub 0" for those behind the ranks.
std::string member_name(const GroupWord& of, std::uint32_t member);

GroupWord::Bytes encode(const GroupWord& word);
// Errors say what is wrong about it; whoever reads adds whose connection it was.
Result<GroupWord> decode_group_word(std::span<const std::byte> bytes);

// Whether both describe one group, cut alike; the error names what differs. `theirs`: of the rank
// that it names.
Status check_same_group(const GroupWord& ours, const GroupWord& theirs);

}  // namespace dlcp::engine
