// The 128 bytes that NCCL carries from listen to connect, in our layout. They come from another
// rank, which may run another version or another plugin altogether, so decoding believes nothing.
// The last bytes are scratch space of the connecting side: NCCL repeats connect with the same
// memory.
//
// Layout, little-endian: magic (8), handle version, wire version, address size, fingerprint of the
// site's secret, plugin version (15, zero-padded), flags (1: payloads are encrypted, a switch
// adds), listener's number (4) and secret (16), address (60), loss terms (12), ticket (4), CRC-32C
// of all before (4). Magic, versions and plugin version keep their places, so that any version can
// be refused by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nccl/abi/types.h"
#include "util/result.h"
#include "wire/keys.h"
#include "wire/packet.h"

namespace dlcp::nccl {

// What ranks must have set alike. The tuner steers by the numbers, and ranks that take different
// algorithms for one collective hang.
struct AgreedTerms {
  std::uint32_t budget_ppm = 0;
  std::uint32_t bytes_min = 0;
  std::uint32_t margin_ppm = 0;
  bool encrypts = false;   // payloads; who cannot read them can do nothing with them
  bool by_switch = false;  // DLCP_COLLNET_SWITCH is set; of the collective plugin alone

  friend bool operator==(const AgreedTerms&, const AgreedTerms&) = default;
};

struct Handle {
  wire::Invitation listener;  // on the address's UDP ports and on its queue pair
  wire::EndpointAddress address;
  std::uint8_t secret_fingerprint = 0;  // see wire::fingerprint
  std::string plugin_version;           // for messages; cut to 15 characters
  AgreedTerms terms;
};

using HandleBytes = std::span<std::byte, kHandleBytes>;

void encode_handle(const Handle& handle, HandleBytes out);
// In the place of a handle: this rank takes no part, and decode_handle of the others says why (cut
// to what there is room for).
void encode_refusal(std::string_view why, HandleBytes out);
// kInvalidUsage, naming both sides, for whatever encode_handle of this version has not made.
Result<Handle> decode_handle(std::span<const std::byte, kHandleBytes> bytes);

// Refuses a rank that has another DLCP_SECRET_FILE: neither would believe the other.
// Both as wire::fingerprint makes them.
Status check_secret(std::uint8_t ours, std::uint8_t theirs);

// Refuses ranks that would not decide alike, naming both sides.
Status check_terms(const AgreedTerms& ours, const AgreedTerms& theirs);

// 0 until the connecting side has put something there. set_ticket renews the checksum.
std::uint32_t ticket_of(std::span<const std::byte, kHandleBytes> bytes);
void set_ticket(HandleBytes bytes, std::uint32_t ticket);

}  // namespace dlcp::nccl
