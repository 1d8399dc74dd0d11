// What ranks and a hub (dlcp-hub) say to each other over TCP before their group is set up: the hub
// a challenge, each rank what group it belongs to and where it listens, the hub where it listens
// for that group, or why not. Whoever has the hub's token can prove it; nothing is believed of who
// has not. The connection stays: one byte on it says that the rank leaves in order, its end alone
// that it has died.
//
// Each word is a frame: length of the rest (2), magic (4), version (1), kind (1), what follows from
// the kind, and a tag (8): SipHash-2-4 under the token of the challenge and all before. All is
// little-endian. The challenge has no tag.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/group_word.h"
#include "engine/hub_places.h"
#include "engine/opening.h"
#include "util/result.h"
#include "wire/keys.h"

namespace dlcp::engine {

// 128 bits that all ranks make alike of what their group alone has.
using HubJobId = wire::Key;

struct HubChallenge {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const HubChallenge&, const HubChallenge&) = default;
};

// Of a rank.
struct HubJoin {
  HubJobId job;
  GroupWord us;                 // the terms of the group, and which rank
  std::uint16_t hub = 0;        // which of the hubs the other end is
  std::uint64_t memory = 0;     // asked for, for the group
  std::uint32_t timeout_s = 0;  // for all to come
  std::uint8_t secret_fingerprint = 0;
  bool encrypts = false;
  Opening::Peer peer;  // where the rank listens
};

// Of the hub.
struct HubAnswer {
  std::string refusal;  // empty: come
  Opening::Peer peer;   // where the hub listens
};

inline constexpr std::size_t kHubFrameBytesMax = 512;
inline constexpr std::byte kHubLeave{0x4c};  // what a rank says last

using HubFrame = std::vector<std::byte>;
HubFrame encode(const HubChallenge& challenge);
HubFrame encode(const HubJoin& join, const HubChallenge& challenge, const wire::Key& token);
HubFrame encode(const HubAnswer& answer, const HubChallenge& challenge, const wire::Key& token);

// How long the frame is that begins there, its length included; nullopt if the bytes say nothing
// yet, 0 if no frame begins so.
std::optional<std::size_t> hub_frame_bytes(std::span<const std::byte> bytes);
// Whole frames. Errors say what is wrong about it, kInvalidUsage where it is the token.
Result<HubChallenge> decode_hub_challenge(std::span<const std::byte> frame);
Result<HubJoin> decode_hub_join(std::span<const std::byte> frame, const HubChallenge& challenge,
                                const wire::Key& token);
Result<HubAnswer> decode_hub_answer(std::span<const std::byte> frame, const HubChallenge& challenge,
                                    const wire::Key& token);

}  // namespace dlcp::engine
