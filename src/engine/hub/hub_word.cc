#include "engine/hub/hub_word.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/codec.h"

namespace dlcp::engine {
namespace {

constexpr std::uint32_t kMagic = 0x48'43'4c'44;  // "DLCH"
constexpr std::uint8_t kVersion = 4;
constexpr std::size_t kHeadBytes = 8;  // length, magic, version, kind
constexpr std::size_t kTagBytes = 8;
constexpr std::size_t kRefusalMax = 200;
// A hub needs memory and time of its own for each call and block, which are not part of the memory
// that its tenants reserve. Calls and blocks of these sizes keep it small in comparison; the plugin
// uses larger ones.
constexpr std::uint32_t kGranuleLeast = 1024;
constexpr std::uint32_t kBlockBytesMaxLeast = collective::Layout::kBlockBytesLeast;

enum class Kind : std::uint8_t { kChallenge = 1, kJoin = 2, kAnswer = 3 };

std::uint64_t tag_of(std::span<const std::byte> frame, const HubChallenge& challenge,
                     const wire::Key& token) {
  SipHash<2, 4> hash(token);
  hash.add(challenge.low);
  hash.add(challenge.high);
  hash.add_last(frame);
  return hash.finish();
}

HubFrame begin(Kind kind) {
  HubFrame frame;
  wire::Writer out(frame);
  out.put(std::uint16_t{0});
  out.put(kMagic);
  out.put(kVersion);
  out.put(static_cast<std::uint8_t>(kind));
  return frame;
}

// The length includes the tag, and the tag covers the length.
HubFrame seal(HubFrame frame, const HubChallenge& challenge, const wire::Key& token) {
  wire::store_le(frame.data(), static_cast<std::uint16_t>(frame.size() + kTagBytes - 2));
  const std::uint64_t tag = tag_of(frame, challenge, token);
  wire::Writer(frame).put(tag);
  return frame;
}

Error garbled(const std::string& what) {
  return {ErrorCode::kRemote, what, "check that the address is that of a dlcp-hub of this version"};
}

// The part of a frame of this kind between head and tag.
Result<std::span<const std::byte>> body_of(std::span<const std::byte> frame, Kind kind,
                                           std::size_t tag_bytes) {
  if (hub_frame_bytes(frame) != frame.size() || frame.size() < kHeadBytes + tag_bytes)
    return garbled(fmt::format("received {} bytes that are not a message between ranks and hubs",
                               frame.size()));
  const auto version = std::to_integer<unsigned>(frame[6]);
  if (version != kVersion || std::to_integer<unsigned>(frame[7]) != static_cast<unsigned>(kind)) {
    return garbled(fmt::format(
        "received message {} of version {} instead of message {} of version {}",
        std::to_integer<unsigned>(frame[7]), version, static_cast<unsigned>(kind), kVersion));
  }
  return frame.subspan(kHeadBytes, frame.size() - kHeadBytes - tag_bytes);
}

Status check_tag(std::span<const std::byte> frame, const HubChallenge& challenge,
                 const wire::Key& token) {
  const auto sealed = frame.first(frame.size() - kTagBytes);
  if (wire::load_le<std::uint64_t>(frame.data() + sealed.size()) !=
      tag_of(sealed, challenge, token)) {
    return Error{ErrorCode::kInvalidUsage, "the tokens of the rank and the hub differ",
                 "DLCP_HUB_TOKEN_FILE of the ranks must contain a token of the hub's "
                 "--token-file"};
  }
  return Unit{};
}

}  // namespace

HubFrame encode(const HubChallenge& challenge) {
  HubFrame frame = begin(Kind::kChallenge);
  wire::Writer out(frame);
  out.put(challenge.low);
  out.put(challenge.high);
  wire::store_le(frame.data(), static_cast<std::uint16_t>(frame.size() - 2));
  return frame;
}

HubFrame encode(const HubJoin& join, const HubChallenge& challenge, const wire::Key& token) {
  HubFrame frame = begin(Kind::kJoin);
  wire::Writer out(frame);
  out.put(join.job.low);
  out.put(join.job.high);
  out.put_bytes(encode(join.us));
  out.put(join.hub);
  out.put(join.timeout_s);
  out.put(join.secret_fingerprint);
  out.put(static_cast<std::uint8_t>(join.encrypts));
  out.put_bytes(encode_place(join.peer));
  return seal(std::move(frame), challenge, token);
}

HubFrame encode(const HubAnswer& answer, const HubChallenge& challenge, const wire::Key& token) {
  HubFrame frame = begin(Kind::kAnswer);
  wire::Writer out(frame);
  out.put_text(answer.refusal, kRefusalMax);
  out.put_bytes(encode_place(answer.peer));
  return seal(std::move(frame), challenge, token);
}

std::optional<std::size_t> hub_frame_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() >= 6 && wire::load_le<std::uint32_t>(bytes.data() + 2) != kMagic) return 0;
  if (bytes.size() < 2) return std::nullopt;
  const std::size_t size = std::size_t{wire::load_le<std::uint16_t>(bytes.data())} + 2;
  return size < kHeadBytes || size > kHubFrameBytesMax ? 0 : size;
}

Result<HubChallenge> decode_hub_challenge(std::span<const std::byte> frame) {
  const auto body = body_of(frame, Kind::kChallenge, 0);
  if (!body) return body.error();
  wire::Reader in(body.value());
  const HubChallenge read{in.get<std::uint64_t>(), in.get<std::uint64_t>()};
  if (!in.ok() || in.left() != 0)
    return garbled(fmt::format("received a challenge with {} invalid bytes", body.value().size()));
  return read;
}

Result<HubJoin> decode_hub_join(std::span<const std::byte> frame, const HubChallenge& challenge,
                                const wire::Key& token) {
  const auto body = body_of(frame, Kind::kJoin, kTagBytes);
  if (!body) return body.error();
  if (auto same = check_tag(frame, challenge, token); !same) return same.error();
  wire::Reader in(body.value());
  HubJoin read;
  read.job.low = in.get<std::uint64_t>();
  read.job.high = in.get<std::uint64_t>();
  const auto word = in.get_bytes(GroupWord::kBytes);
  read.hub = in.get<std::uint16_t>();
  read.timeout_s = in.get<std::uint32_t>();
  read.secret_fingerprint = in.get<std::uint32_t>();
  read.encrypts = in.get<std::uint8_t>() != 0;
  read.peer = read_place(in);
  if (!in.ok() || in.left() != 0)
    return garbled(
        fmt::format("received a rank's request with {} invalid bytes", body.value().size()));
  auto us = decode_group_word(word);
  if (!us) return us.error();
  read.us = us.value();
  if (read.us.is_hub() || read.us.ranks < 2 || read.hub >= read.us.hubs || read.us.rails != 1 ||
      read.us.granule < kGranuleLeast || read.us.granule > 1 << 20 ||
      read.us.block_bytes_max < std::max(read.us.granule, kBlockBytesMaxLeast) ||
      read.us.block_bytes_max > 1 << 26 || read.us.loss_ppm > 1'000'000 ||
      read.peer.address.size > wire::EndpointAddress::kMaxBytes)
    return garbled("received a rank's request with impossible values");
  return read;
}

Result<HubAnswer> decode_hub_answer(std::span<const std::byte> frame, const HubChallenge& challenge,
                                    const wire::Key& token) {
  const auto body = body_of(frame, Kind::kAnswer, kTagBytes);
  if (!body) return body.error();
  const auto same = check_tag(frame, challenge, token);
  wire::Reader in(body.value());
  HubAnswer read;
  read.refusal = in.get_text();
  read.peer = read_place(in);
  if (!in.ok() || in.left() != 0 || read.peer.address.size > wire::EndpointAddress::kMaxBytes)
    return garbled(
        fmt::format("received a hub's answer with {} invalid bytes", body.value().size()));
  // An answer under another token is accepted only if it is a refusal.
  if (!same && read.refusal.empty()) return same.error();
  return read;
}

}  // namespace dlcp::engine
