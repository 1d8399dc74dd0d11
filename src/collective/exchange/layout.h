// How one all-reduce call is divided among the owners of a group: into blocks of equal size, each
// summed by one owner. Owners are the ranks themselves, or hubs, which contribute nothing.
// Ownership rotates from call to call, so that short calls load all owners equally. It depends only
// on the call's number and size, which all ranks know. The length of each message states how much
// of the block is real data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dlcp::collective {

// The replacement for lost contributions.
enum class LossFill : std::uint8_t {
  kZero,     // zeros: the result is the sum of the contributions that arrived
  kRescale,  // their mean: that sum times ranks / contributions that arrived
};

// The terms that the members of a group have agreed on, and the number of this member.
struct Terms {
  std::uint32_t ranks = 0;    // number of contributing ranks; 2 or more
  std::uint32_t rank = 0;     // this member; hubs are numbered after the ranks
  std::size_t granule = 128;  // divides block sizes; a multiple of element size and packet payload
  std::size_t block_bytes_max = std::size_t{64} << 10;  // at least the granule
  std::uint32_t loss_ppm = 0;  // share of a tensor's contributions that may be lost, in millionths
  LossFill fill = LossFill::kZero;
  std::uint32_t hubs = 0;  // number of hubs, which own all blocks; 0: the ranks own them

  std::uint32_t members() const { return ranks + hubs; }
  std::uint32_t owners() const { return hubs > 0 ? hubs : ranks; }
  std::uint32_t first_owner() const { return hubs > 0 ? ranks : 0; }
  bool is_hub() const { return rank >= ranks; }
  bool owns() const { return hubs == 0 || is_hub(); }
  // Number of contributions to a block from members other than its owner.
  std::uint32_t contributions() const { return hubs > 0 ? ranks : ranks - 1; }
};

class Layout {
 public:
  static constexpr std::size_t kPipelined = 8;  // blocks per owner in a long call
  static constexpr std::size_t kBlockBytesLeast = std::size_t{17} << 10;

  // `call` is the group's count of calls, from 0. `bytes` is greater than 0.
  Layout(const Terms& terms, std::uint64_t call, std::size_t bytes)
      : owners_(terms.owners()),
        first_owner_(terms.first_owner()),
        turn_(static_cast<std::uint32_t>(call % owners_)),
        bytes_(bytes),
        block_bytes_(block_bytes(terms, bytes)),
        blocks_(static_cast<std::uint32_t>((bytes + block_bytes_ - 1) / block_bytes_)) {}

  std::uint32_t blocks() const { return blocks_; }
  std::uint32_t owners() const { return owners_; }
  std::uint32_t owner(std::uint32_t block) const {
    return first_owner_ + (turn_ + block) % owners_;
  }
  // An owner's blocks are its first one and every owners()-th block after it. It owns none if
  // first_of() is not below blocks().
  std::uint32_t first_of(std::uint32_t owner) const {
    return (owner - first_owner_ + owners_ - turn_) % owners_;
  }
  std::uint32_t count_of(std::uint32_t owner) const {
    const std::uint32_t first = first_of(owner);
    return first < blocks_ ? (blocks_ - first - 1) / owners_ + 1 : 0;
  }
  std::size_t offset(std::uint32_t block) const { return std::size_t{block} * block_bytes_; }
  // Number of the block's bytes that are among the first `real` bytes of the call.
  std::size_t bytes_within(std::uint32_t block, std::size_t real) const {
    const std::size_t begin = offset(block);
    const std::size_t end = std::min({begin + block_bytes_, bytes_, real});
    return end > begin ? end - begin : 0;
  }
  std::size_t bytes_of(std::uint32_t block) const { return bytes_within(block, bytes_); }

  // Size of every block except the last, which may be shorter. All owners get the same number of
  // blocks where possible. Owners get several blocks of a long call, so that the first ones are
  // summed while the others are in transit. Messages shorter than kBlockBytesLeast cost more
  // processor time than they save.
  static std::size_t block_bytes(const Terms& terms, std::size_t bytes) {
    const auto parts = [](std::size_t of, std::size_t size) { return (of + size - 1) / size; };
    const std::size_t whole = std::max(bytes, std::size_t{1});
    const std::size_t share = parts(parts(whole, terms.owners()), terms.granule);
    const std::size_t wanted = std::max(terms.granule * share / kPipelined, kBlockBytesLeast);
    const std::size_t most = std::min(wanted, terms.block_bytes_max) / terms.granule;
    return parts(share, parts(share, std::max(most, std::size_t{1}))) * terms.granule;
  }

 private:
  std::uint32_t owners_;
  std::uint32_t first_owner_;
  std::uint32_t turn_;
  std::size_t bytes_;
  std::size_t block_bytes_;
  std::uint32_t blocks_;
};

}  // namespace dlcp::collective
