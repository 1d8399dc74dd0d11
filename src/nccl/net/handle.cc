#include "nccl/net/handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "util/hash/crc32c.h"
#include "wire/codec.h"
#include "wire/frame_head.h"

namespace dlcp::nccl {
namespace {

constexpr char kMagic[8] = {'D', 'L', 'C', 'P', 'n', 'e', 't', '\0'};
constexpr char kRefusalMagic[8] = {'D', 'L', 'C', 'P', 'n', 'o', 't', '\0'};
constexpr std::size_t kReasonAt = 8;
constexpr std::size_t kReasonBytes = kHandleBytes - kReasonAt - 4;
constexpr std::uint8_t kHandleVersion = 6;
constexpr std::size_t kVersionsAt = 8;
constexpr std::size_t kFlagsAt = 11;
constexpr unsigned kEncrypts = 1;
constexpr unsigned kBySwitch = 2;
constexpr std::size_t kPluginVersionAt = 12;
constexpr std::size_t kPluginVersionBytes = 8;
constexpr std::size_t kFingerprintAt = kPluginVersionAt + kPluginVersionBytes;
constexpr std::size_t kLatencyAt = kFingerprintAt + 4;
constexpr std::size_t kListenerAt = kLatencyAt + 4;
constexpr std::size_t kSecretAt = kListenerAt + 4;
constexpr std::size_t kAddressAt = kSecretAt + 16;
constexpr std::size_t kTermsAt = kAddressAt + wire::EndpointAddress::kMaxBytes;
constexpr std::size_t kTicketAt = kTermsAt + 12;
constexpr std::size_t kChecksumAt = kTicketAt + 4;
static_assert(kChecksumAt + 4 == kHandleBytes);

// The leading printable characters.
std::string text_in(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const char c = static_cast<char>(byte);
    if (c < ' ' || c > '~') break;
    text += c;
  }
  return text;
}

std::string plugin_version_in(std::span<const std::byte, kHandleBytes> bytes) {
  return text_in(bytes.subspan(kPluginVersionAt, kPluginVersionBytes));
}

// Returns `why`, without its middle if it is too long: a setting's name is at the beginning, the
// reason at the end, and the path of a file between them.
std::string shortened(std::string_view why) {
  constexpr std::size_t kHead = 20;
  constexpr std::string_view kGap = "...";
  if (why.size() <= kReasonBytes) return std::string(why);
  const std::size_t tail = kReasonBytes - kHead - kGap.size();
  return fmt::format("{}{}{}", why.substr(0, kHead), kGap, why.substr(why.size() - tail));
}

Error foreign(std::span<const std::byte, kHandleBytes> bytes) {
  std::string seen;
  for (std::size_t i = 0; i < sizeof kMagic; ++i)
    seen += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  return {ErrorCode::kInvalidUsage,
          fmt::format("the peer's rank uses another network plugin: its handle begins with {}, "
                      "but a handle of DLCP {} begins with 'DLCPnet'",
                      seen, DLCP_VERSION),
          "set NCCL_NET=DLCP on all ranks, so that a rank that cannot load the plugin fails "
          "with a message"};
}

}  // namespace

void encode_handle(const Handle& handle, HandleBytes out) {
  std::ranges::fill(out, std::byte{0});
  std::memcpy(out.data(), kMagic, sizeof kMagic);
  out[kVersionsAt] = std::byte{kHandleVersion};
  out[kVersionsAt + 1] = std::byte{wire::kWireVersion};
  out[kVersionsAt + 2] = std::byte{handle.address.size};
  std::memcpy(out.data() + kPluginVersionAt, handle.plugin_version.data(),
              std::min(handle.plugin_version.size(), kPluginVersionBytes));
  wire::store_le(&out[kFingerprintAt], handle.secret_fingerprint);
  wire::store_le(&out[kLatencyAt], handle.terms.latency_ns);
  out[kFlagsAt] = static_cast<std::byte>((handle.terms.encrypts ? kEncrypts : 0) |
                                         (handle.terms.by_switch ? kBySwitch : 0));
  wire::store_le(&out[kListenerAt], handle.listener.number);
  wire::store_le(&out[kSecretAt], handle.listener.secret.low);
  wire::store_le(&out[kSecretAt + 8], handle.listener.secret.high);
  std::ranges::copy(handle.address.bytes, out.begin() + kAddressAt);
  wire::store_le(&out[kTermsAt], handle.terms.budget_ppm);
  wire::store_le(&out[kTermsAt + 4], handle.terms.bytes_min);
  wire::store_le(&out[kTermsAt + 8], handle.terms.margin_ppm);
  wire::store_le(&out[kChecksumAt], crc32c(out.first(kChecksumAt)));
}

void encode_refusal(std::string_view why, HandleBytes out) {
  std::ranges::fill(out, std::byte{0});
  std::memcpy(out.data(), kRefusalMagic, sizeof kRefusalMagic);
  const std::string text = shortened(why);
  std::memcpy(out.data() + kReasonAt, text.data(), text.size());
}

Result<Handle> decode_handle(std::span<const std::byte, kHandleBytes> bytes) {
  if (std::memcmp(bytes.data(), kRefusalMagic, sizeof kRefusalMagic) == 0) {
    return Error{ErrorCode::kInvalidUsage,
                 "it does not take part: " + text_in(bytes.subspan(kReasonAt, kReasonBytes)),
                 "results are correct, but slower; see that rank's log"};
  }
  if (std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) return foreign(bytes);
  Handle handle;
  handle.plugin_version = plugin_version_in(bytes);
  const auto handle_version = std::to_integer<unsigned>(bytes[kVersionsAt]);
  const auto wire_version = std::to_integer<unsigned>(bytes[kVersionsAt + 1]);
  if (handle_version != kHandleVersion || wire_version != wire::kWireVersion) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("the peer's rank runs DLCP {} (handle version {}, wire version {}), but "
                    "this rank runs DLCP {} (handle version {}, wire version {})",
                    handle.plugin_version, handle_version, wire_version, DLCP_VERSION,
                    kHandleVersion, wire::kWireVersion),
        "install the same version on all hosts"};
  }
  handle.address.size = std::to_integer<std::uint8_t>(bytes[kVersionsAt + 2]);
  if (wire::load_le<std::uint32_t>(&bytes[kChecksumAt]) != crc32c(bytes.first(kChecksumAt)) ||
      handle.address.size > wire::EndpointAddress::kMaxBytes) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("the handle of the peer's rank (DLCP {}) is damaged", handle.plugin_version),
        "NCCL's bootstrap network changed it; check that network"};
  }
  handle.secret_fingerprint = wire::load_le<std::uint32_t>(&bytes[kFingerprintAt]);
  handle.listener = {wire::load_le<std::uint32_t>(&bytes[kListenerAt]),
                     {wire::load_le<std::uint64_t>(&bytes[kSecretAt]),
                      wire::load_le<std::uint64_t>(&bytes[kSecretAt + 8])}};
  std::copy_n(bytes.begin() + kAddressAt, handle.address.bytes.size(),
              handle.address.bytes.begin());
  const auto flags = std::to_integer<unsigned>(bytes[kFlagsAt]);
  handle.terms = {wire::load_le<std::uint32_t>(&bytes[kTermsAt]),
                  wire::load_le<std::uint32_t>(&bytes[kTermsAt + 4]),
                  wire::load_le<std::uint32_t>(&bytes[kTermsAt + 8]),
                  wire::load_le<std::uint32_t>(&bytes[kLatencyAt]),
                  (flags & kEncrypts) != 0,
                  (flags & kBySwitch) != 0};
  return handle;
}

Status check_secret(std::uint32_t ours, std::uint32_t theirs) {
  if (ours == theirs) return Unit{};
  const char* const what = ours == 0     ? "the peer's rank has a DLCP_SECRET_FILE, but this "
                                           "rank has none"
                           : theirs == 0 ? "this rank has a DLCP_SECRET_FILE, but the peer's "
                                           "rank has none"
                                         : "the secrets in DLCP_SECRET_FILE of the peer's rank "
                                           "and of this rank differ";
  return Error{ErrorCode::kInvalidUsage, what, "give all ranks the same file, or none"};
}

Status check_terms(const AgreedTerms& ours, const AgreedTerms& theirs) {
  if (ours == theirs) return Unit{};
  if (ours.encrypts != theirs.encrypts) {
    return Error{ErrorCode::kInvalidUsage,
                 ours.encrypts
                     ? "this rank encrypts payloads (DLCP_ENCRYPT=aes-gcm), but the peer's rank "
                       "does not"
                     : "the peer's rank encrypts payloads (DLCP_ENCRYPT=aes-gcm), but this rank "
                       "does not",
                 "set DLCP_ENCRYPT to the same value on all ranks"};
  }
  if (ours.by_switch != theirs.by_switch) {
    return Error{ErrorCode::kInvalidUsage,
                 ours.by_switch ? "this rank has a DLCP_COLLNET_SWITCH, but the peer's rank has "
                                  "none"
                                : "the peer's rank has a DLCP_COLLNET_SWITCH, but this rank has "
                                  "none",
                 "set DLCP_COLLNET_SWITCH to the same value on all ranks"};
  }
  if (ours.latency_ns != theirs.latency_ns) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("the peer's rank reports a latency of {:.6g} us to NCCL, but this "
                             "rank {:.6g} us",
                             theirs.latency_ns / 1e3, ours.latency_ns / 1e3),
                 "set DLCP_ORDER to the same file on all ranks, or on none"};
  }
  const auto words = [](const AgreedTerms& terms) {
    return fmt::format("may lose {:.4g}% in messages of {} bytes or more (tuner margin {:.4g})",
                       terms.budget_ppm / 1e4, terms.bytes_min, terms.margin_ppm / 1e6);
  };
  return Error{
      ErrorCode::kInvalidUsage,
      fmt::format("the peer's rank {}, but this rank {}", words(theirs), words(ours)),
      "set DLCP_LOSS_BUDGET, DLCP_LOSS_MIN_BYTES, DLCP_TUNER_MARGIN and the communicator's "
      "trafficClass to the same values on all ranks"};
}

std::uint32_t ticket_of(std::span<const std::byte, kHandleBytes> bytes) {
  return wire::load_le<std::uint32_t>(&bytes[kTicketAt]);
}

void set_ticket(HandleBytes bytes, std::uint32_t ticket) {
  wire::store_le(&bytes[kTicketAt], ticket);
  wire::store_le(&bytes[kChecksumAt], crc32c(bytes.first(kChecksumAt)));
}

}  // namespace dlcp::nccl
