#include "engine/group/group_word.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlcp::engine {
namespace {

constexpr std::uint32_t kMagic = 0x50'43'4c'44;  // "DLCP"
constexpr std::uint8_t kVersion = 6;
constexpr std::uint32_t kRanksMax = 1u << 20;  // more than any job; prevents overflow

Error garbled(std::string what) {
  return {ErrorCode::kRemote, std::move(what), "install the same version of DLCP on all ranks"};
}

std::string plan_text(std::uint64_t hash) {
  return hash == 0 ? "not set" : fmt::format("plan {:016x}", hash);
}

const char* fill_text(collective::LossFill fill) {
  return fill == collective::LossFill::kZero ? "zero" : "rescale";
}

// Compares the permitted loss and the replacement for lost contributions.
Status check_same_loss(const GroupWord& ours, const GroupWord& theirs) {
  if (ours.loss_ppm != theirs.loss_ppm) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("rank {} may lose {:.4g}% of each all-reduce, but this rank may "
                    "lose {:.4g}%",
                    theirs.rank, theirs.loss_ppm / 1e4, ours.loss_ppm / 1e4),
        "set DLCP_LOSS_BUDGET, or the communicator's trafficClass, to the same value on all ranks"};
  }
  if (ours.loss_ppm > 0 && ours.fill != theirs.fill) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("DLCP_LOSS_FILL is '{}' on rank {}, but '{}' on this rank",
                             fill_text(theirs.fill), theirs.rank, fill_text(ours.fill)),
                 "set it to the same value on all ranks"};
  }
  return Unit{};
}

}  // namespace

PlaceBytes encode_place(const Opening::Peer& place) {
  PlaceBytes bytes{};
  wire::store_le(&bytes[0], place.listener.number);
  wire::store_le(&bytes[4], place.listener.secret.low);
  wire::store_le(&bytes[12], place.listener.secret.high);
  bytes[20] = std::byte{place.address.size};
  std::ranges::copy(place.address.bytes, &bytes[21]);
  return bytes;
}

Opening::Peer read_place(wire::Reader& in) {
  Opening::Peer place;
  place.listener.number = in.get<std::uint32_t>();
  place.listener.secret.low = in.get<std::uint64_t>();
  place.listener.secret.high = in.get<std::uint64_t>();
  place.address.size = in.get<std::uint8_t>();
  std::ranges::copy(in.get_bytes(place.address.bytes.size()), place.address.bytes.begin());
  return place;
}

std::string member_name(const GroupWord& of, std::uint32_t member) {
  return member < of.ranks ? fmt::format("rank {}", member)
                           : fmt::format("hub {}", member - of.ranks);
}

GroupWord::Bytes encode(const GroupWord& word) {
  GroupWord::Bytes bytes{};
  wire::store_le(&bytes[0], kMagic);
  bytes[4] = std::byte{kVersion};
  bytes[5] = static_cast<std::byte>(word.word);
  bytes[6] = static_cast<std::byte>(word.lane);
  bytes[7] = static_cast<std::byte>(word.rail | word.rails << 4);
  wire::store_le(&bytes[8], word.rank);
  wire::store_le(&bytes[12], word.ranks);
  wire::store_le(&bytes[16], word.group);
  wire::store_le(&bytes[24], word.granule);
  wire::store_le(&bytes[28], word.block_bytes_max);
  wire::store_le(&bytes[32], word.speed_mbps);
  bytes[36] = std::byte{word.always};
  bytes[37] = static_cast<std::byte>(word.fill);
  wire::store_le(&bytes[38], word.hubs);
  wire::store_le(&bytes[40], word.plan);
  wire::store_le(&bytes[48], word.loss_ppm);
  wire::store_le(&bytes[52], word.hub_list);
  wire::store_le(&bytes[60], word.staging);
  for (std::size_t i = 0; i < word.places.size(); ++i)
    std::ranges::copy(encode_place(word.places[i]),
                      &bytes[GroupWord::kPlacesAt + i * GroupWord::kRailBytes]);
  return bytes;
}

Result<GroupWord> decode_group_word(std::span<const std::byte> bytes) {
  if (bytes.size() != GroupWord::kBytes) {
    return garbled(fmt::format("a control message has {} bytes instead of {}", bytes.size(),
                               GroupWord::kBytes));
  }
  wire::Reader in(bytes);
  const auto magic = in.get<std::uint32_t>();
  const unsigned version = in.get<std::uint8_t>();
  const unsigned word = in.get<std::uint8_t>();
  const unsigned lane = in.get<std::uint8_t>();
  const unsigned rail = in.get<std::uint8_t>();
  if (magic != kMagic || version != kVersion) {
    return garbled(
        fmt::format("a control message has version {} and begins with {:08x}; this DLCP uses "
                    "version {}",
                    version, magic, kVersion));
  }
  if (word < 1 || word > 3 || lane > 1)
    return garbled(fmt::format("a control message has the unknown kind {} or lane {}", word, lane));
  GroupWord read;
  read.word = static_cast<GroupWord::Word>(word);
  read.lane = static_cast<collective::Transfer::Lane>(lane);
  read.rank = in.get<std::uint32_t>();
  read.ranks = in.get<std::uint32_t>();
  read.group = in.get<std::uint64_t>();
  read.granule = in.get<std::uint32_t>();
  read.block_bytes_max = in.get<std::uint32_t>();
  read.speed_mbps = in.get<std::uint32_t>();
  read.always = in.get<std::uint8_t>() != 0;
  const unsigned fill = in.get<std::uint8_t>();
  read.hubs = in.get<std::uint16_t>();
  read.plan = in.get<std::uint64_t>();
  read.loss_ppm = in.get<std::uint32_t>();
  read.hub_list = in.get<std::uint64_t>();
  read.staging = in.get<std::uint64_t>();
  read.rail = static_cast<std::uint8_t>(rail & 15);
  read.rails = static_cast<std::uint8_t>(rail >> 4);
  bool places = true;
  for (auto& place : read.places) {
    place = read_place(in);
    places = places && place.address.size <= wire::EndpointAddress::kMaxBytes;
  }
  if (!places || read.rails < 1 || read.rails > GroupWord::kRailsMax || read.rail >= read.rails)
    return garbled(fmt::format("a control message names rail {} of {}", read.rail, read.rails));
  if (fill > 1) return garbled(fmt::format("a control message contains the unknown fill {}", fill));
  read.fill = static_cast<collective::LossFill>(fill);
  if (read.ranks > kRanksMax || read.rank >= read.members())
    return garbled(
        fmt::format("a control message comes from rank {} of {}", read.rank, read.ranks));
  return read;
}

Status check_same_group(const GroupWord& ours, const GroupWord& theirs) {
  if (ours.ranks != theirs.ranks || ours.group != theirs.group) {
    return Error{
        ErrorCode::kRemote,
        fmt::format("rank {} belongs to communicator {:x} of {} ranks, but this rank belongs to "
                    "{:x} of {}",
                    theirs.rank, theirs.group, theirs.ranks, ours.group, ours.ranks),
        "this is a bug in NCCL or in the program that passes the handles"};
  }
  if (ours.granule != theirs.granule || ours.block_bytes_max != theirs.block_bytes_max) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("rank {} splits all-reduces into blocks of at most {} bytes, in multiples "
                    "of {}, but this rank uses {} and {}",
                    theirs.rank, theirs.block_bytes_max, theirs.granule, ours.block_bytes_max,
                    ours.granule),
        "install the same version of DLCP on all ranks"};
  }
  if (ours.hubs != theirs.hubs || ours.hub_list != theirs.hub_list) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("DLCP_COLLNET_HUBS names {} hubs (list {:016x}) on rank {}, but {} "
                             "({:016x}) on this rank",
                             theirs.hubs, theirs.hub_list, theirs.rank, ours.hubs, ours.hub_list),
                 "give all ranks the same hubs in the same order"};
  }
  if (ours.plan != theirs.plan) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("DLCP_PLAN is {} on rank {}, but {} on this rank",
                             plan_text(theirs.plan), theirs.rank, plan_text(ours.plan)),
                 "give all ranks the same plan"};
  }
  if (ours.staging != theirs.staging) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("DLCP_COLLNET_MEMORY is {} bytes on rank {}, but {} on rank {}",
                             theirs.staging, theirs.rank, ours.staging, ours.rank),
                 "set it to the same value on all ranks"};
  }
  if (ours.always != theirs.always) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("DLCP_COLLNET is '{}' on rank {}, but '{}' on this rank",
                    theirs.always ? "on" : "auto", theirs.rank, ours.always ? "on" : "auto"),
        "set it to the same value on all ranks; a job whose ranks use different algorithms hangs"};
  }
  return check_same_loss(ours, theirs);
}

}  // namespace dlcp::engine
