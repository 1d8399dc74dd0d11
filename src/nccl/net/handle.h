// The 128 bytes that NCCL carries from listen to connect. They come from another rank, which may
// run another version or another plugin, so decoding validates everything. The last bytes are
// scratch space of the connecting side, because NCCL repeats connect with the same memory.
//
// Layout, little-endian: magic (8 bytes), handle version, wire version, address size, flags
// (payloads are encrypted, a switch adds), plugin version (8, zero-padded), fingerprint of the
// site's secret (4), latency (4), listener's number (4) and secret (16), address (60), loss terms
// (12), ticket (4), CRC-32C of all preceding bytes (4). Magic, versions and plugin version are at
// the same place in all versions, so that an error can name the other version.
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

// Settings that must be the same on all ranks. The tuner's decisions depend on the numbers, and
// ranks that choose different algorithms for one collective hang.
struct AgreedTerms {
  std::uint32_t budget_ppm = 0;
  std::uint32_t bytes_min = 0;
  std::uint32_t margin_ppm = 0;
  std::uint32_t latency_ns = 0;  // reported to NCCL (DLCP_ORDER)
  bool encrypts = false;         // payloads; both ends must agree
  bool by_switch = false;        // DLCP_COLLNET_SWITCH is set; only used by the collective plugin

  friend bool operator==(const AgreedTerms&, const AgreedTerms&) = default;
};

struct Handle {
  wire::Invitation listener;  // valid on the address's UDP ports and on its queue pair
  wire::EndpointAddress address;
  std::uint32_t secret_fingerprint = 0;  // see wire::fingerprint
  std::string plugin_version;            // for messages; truncated to 8 characters
  AgreedTerms terms;
};

using HandleBytes = std::span<std::byte, kHandleBytes>;

void encode_handle(const Handle& handle, HandleBytes out);
// Written instead of a handle if this rank does not take part. decode_handle() on the other ranks
// returns the reason (truncated to the available space).
void encode_refusal(std::string_view why, HandleBytes out);
// kInvalidUsage, naming both sides, for anything that encode_handle() of this version does not
// produce.
Result<Handle> decode_handle(std::span<const std::byte, kHandleBytes> bytes);

// Rejects a rank with another DLCP_SECRET_FILE, because neither side would accept the other's
// packets. Both arguments come from wire::fingerprint.
Status check_secret(std::uint32_t ours, std::uint32_t theirs);

// Rejects ranks whose decisions could differ, naming both sides.
Status check_terms(const AgreedTerms& ours, const AgreedTerms& theirs);

// 0 until the connecting side has set a ticket. set_ticket updates the checksum.
std::uint32_t ticket_of(std::span<const std::byte, kHandleBytes> bytes);
void set_ticket(HandleBytes bytes, std::uint32_t ticket);

}  // namespace dlcp::nccl
