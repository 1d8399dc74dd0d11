#include "wire/frames/placed_frame.h"

#include <algorithm>

#include "wire/frames/control_form.h"

namespace dlcp::wire {
namespace {

constexpr std::size_t kPermitBytes = 29;
constexpr std::size_t kPermitsBytes = kControlHeadBytes + 1 + kTagBytes;  // of a frame without any
static_assert(Link::kIntroductionBytesMax <= 255);

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Link> {
  io.template list<std::uint8_t>(
      f.introduction, 1,
      [&](auto&& byte) {
        auto value = std::to_integer<std::uint8_t>(byte);
        io(value);
        if constexpr (!std::is_const_v<std::remove_reference_t<decltype(byte)>>)
          byte = std::byte{value};
      });
}

template <class Io>
void fields(Io& io, auto&& f) requires std::same_as<std::remove_cvref_t<decltype(f)>, Permits> {
  io.template list<std::uint8_t>(
      f.permits, kPermitBytes,
      [&](auto&& permit) {
        io(permit.stream);
        io(permit.message);
        io(permit.segment);
        io(permit.slot);
        io(permit.generation);
        io(permit.key);
        io(permit.address);
        io(permit.bytes);
      });
}

constexpr auto kPlacingFields = [](auto& io, auto&& frame) { fields(io, frame); };

bool is_sound_permit(const Permit& permit) {
  return permit.slot < PlacedName::kSlots && permit.bytes > 0;
}

}  // namespace

template <>
void encode(const Link& frame, Buffer& out) {
  write_frame(frame, out, kPlacingFields);
}
template <>
void encode(const Permits& frame, Buffer& out) {
  write_frame(frame, out, kPlacingFields);
}

template <>
std::optional<Link> decode(std::span<const std::byte> datagram) {
  auto link = read_frame<Link>(datagram, kPlacingFields);
  return link && link->introduction.size() <= Link::kIntroductionBytesMax ? link : std::nullopt;
}
template <>
std::optional<Permits> decode(std::span<const std::byte> datagram) {
  auto permits = read_frame<Permits>(datagram, kPlacingFields);
  return permits && std::ranges::all_of(permits->permits, is_sound_permit) ? permits : std::nullopt;
}

std::size_t permits_max(std::size_t bytes) {
  const std::size_t most = bytes < kPermitsBytes ? 0 : (bytes - kPermitsBytes) / kPermitBytes;
  return std::min<std::size_t>(most, 255);
}

}  // namespace dlcp::wire
