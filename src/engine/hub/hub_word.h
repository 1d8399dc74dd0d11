// The messages between ranks and a hub (dlcp-hub) over TCP before their group is set up. The hub
// sends a challenge, each rank sends the description of its group and where it listens, and the hub
// answers where it listens for that group, or why it refuses. Both sides prove that they have the
// hub's token; messages without that proof are rejected. The TCP connection stays open: one byte on
// it announces that the rank leaves in order; if it closes without that byte, the rank has died.
//
// Each message is a frame: length of the rest (2 bytes), magic (4), version (1), kind (1), fields
// that depend on the kind, and a tag (8): SipHash-2-4 under the token over the challenge and all
// preceding bytes. All fields are little-endian. The challenge has no tag.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/group/group_word.h"
#include "engine/hub/hub_places.h"
#include "engine/opening/opening.h"
#include "util/result.h"
#include "wire/keys.h"

namespace dlcp::engine {

// 128 bits that all ranks of a group derive from data that only this group has.
using HubJobId = wire::Key;

struct HubChallenge {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const HubChallenge&, const HubChallenge&) = default;
};

// Sent by a rank.
struct HubJoin {
  HubJobId job;
  GroupWord us;                 // the terms of the group, and the rank's number
  std::uint16_t hub = 0;        // which of the hubs receives this
  std::uint32_t timeout_s = 0;  // for the whole set-up
  std::uint32_t secret_fingerprint = 0;
  bool encrypts = false;
  Opening::Peer peer;  // where the rank listens
};

// Sent by the hub.
struct HubAnswer {
  std::string refusal;  // empty if the rank is accepted
  Opening::Peer peer;   // where the hub listens
};

inline constexpr std::size_t kHubFrameBytesMax = 512;
inline constexpr std::byte kHubLeave{0x4c};  // the last byte that a rank sends

using HubFrame = std::vector<std::byte>;
HubFrame encode(const HubChallenge& challenge);
HubFrame encode(const HubJoin& join, const HubChallenge& challenge, const wire::Key& token);
HubFrame encode(const HubAnswer& answer, const HubChallenge& challenge, const wire::Key& token);

// Length of the frame at the beginning of `bytes`, including its length field; nullopt if more
// bytes are needed, 0 if no frame begins like this.
std::optional<std::size_t> hub_frame_bytes(std::span<const std::byte> bytes);
// These take whole frames. Errors describe the frame; an invalid token gives kInvalidUsage.
Result<HubChallenge> decode_hub_challenge(std::span<const std::byte> frame);
Result<HubJoin> decode_hub_join(std::span<const std::byte> frame, const HubChallenge& challenge,
                                const wire::Key& token);
Result<HubAnswer> decode_hub_answer(std::span<const std::byte> frame, const HubChallenge& challenge,
                                    const wire::Key& token);

}  // namespace dlcp::engine
