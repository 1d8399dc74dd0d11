#include "collective/group_word.h"

#include <fmt/format.h>

namespace dlcp::collective {
namespace {

constexpr std::uint32_t kMagic = 0x50'43'4c'44;  // "DLCP"
constexpr std::uint8_t kVersion = 1;

template <class Integer>
void put(std::span<std::byte> out, std::size_t at, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

template <class Integer>
Integer get(std::span<const std::byte> bytes, std::size_t at) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value = static_cast<Integer>(value | std::to_integer<Integer>(bytes[at + i]) << (8 * i));
  }
  return value;
}

Error garbled(std::string what) {
  return {ErrorCode::kRemote, std::move(what), "run one version of DLCP on all ranks"};
}

}  // namespace

GroupWord::Bytes encode(const GroupWord& word) {
  GroupWord::Bytes bytes{};
  put(bytes, 0, kMagic);
  bytes[4] = std::byte{kVersion};
  bytes[5] = static_cast<std::byte>(word.word);
  bytes[6] = static_cast<std::byte>(word.lane);
  put(bytes, 8, word.rank);
  put(bytes, 12, word.ranks);
  put(bytes, 16, word.group);
  put(bytes, 24, word.granule);
  put(bytes, 28, word.block_bytes_max);
  put(bytes, 32, word.speed_mbps);
  bytes[36] = std::byte{word.always};
  return bytes;
}

Result<GroupWord> decode_group_word(std::span<const std::byte> bytes) {
  if (bytes.size() != GroupWord::kBytes) {
    return garbled(
        fmt::format("a word of {} bytes, where they have {}", bytes.size(), GroupWord::kBytes));
  }
  if (get<std::uint32_t>(bytes, 0) != kMagic || std::to_integer<unsigned>(bytes[4]) != kVersion) {
    return garbled(fmt::format("a word of version {} that begins with {:08x}, not of version {}",
                               std::to_integer<unsigned>(bytes[4]), get<std::uint32_t>(bytes, 0),
                               kVersion));
  }
  const auto word = std::to_integer<unsigned>(bytes[5]);
  const auto lane = std::to_integer<unsigned>(bytes[6]);
  if (word < 1 || word > 3 || lane > 1) {
    return garbled(fmt::format("word {} for lane {}, which do not exist", word, lane));
  }
  GroupWord read;
  read.word = static_cast<GroupWord::Word>(word);
  read.lane = static_cast<Transfer::Lane>(lane);
  read.rank = get<std::uint32_t>(bytes, 8);
  read.ranks = get<std::uint32_t>(bytes, 12);
  read.group = get<std::uint64_t>(bytes, 16);
  read.granule = get<std::uint32_t>(bytes, 24);
  read.block_bytes_max = get<std::uint32_t>(bytes, 28);
  read.speed_mbps = get<std::uint32_t>(bytes, 32);
  read.always = bytes[36] != std::byte{0};
  if (read.rank >= read.ranks) {
    return garbled(fmt::format("a word of rank {} of {}", read.rank, read.ranks));
  }
  return read;
}

Status check_same_group(const GroupWord& ours, const GroupWord& theirs) {
  if (ours.ranks != theirs.ranks || ours.group != theirs.group) {
    return Error{
        ErrorCode::kRemote,
        fmt::format("rank {} belongs to communicator {:x} of {} ranks, this one to {:x} of {}",
                    theirs.rank, theirs.group, theirs.ranks, ours.group, ours.ranks),
        "a bug in whoever passes the handles on"};
  }
  if (ours.granule != theirs.granule || ours.block_bytes_max != theirs.block_bytes_max) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("rank {} cuts all-reduces into blocks of at most {} bytes, multiples of "
                    "{}; this one {} and {}",
                    theirs.rank, theirs.block_bytes_max, theirs.granule, ours.block_bytes_max,
                    ours.granule),
        "run one version of DLCP on all ranks"};
  }
  if (ours.always != theirs.always) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("DLCP_COLLNET is '{}' on rank {} and '{}' on this one",
                    theirs.always ? "on" : "auto", theirs.rank, ours.always ? "on" : "auto"),
        "set it alike: ranks that take different algorithms hang"};
  }
  return Unit{};
}

}  // namespace dlcp::collective
