// Divides a packet into blocks and fills it; the last block is as long as the room allows.
#include "compression/packet_code.h"

#include <algorithm>
#include <bit>

namespace dlcp::compression {
namespace {

constexpr std::size_t kElementBytesMax = 4;
constexpr std::size_t kInputMax = kBlockElements * kElementBytesMax;
constexpr std::size_t kRoomMax = block_room(Format::kFloat32);

using Input = std::array<std::byte, kInputMax>;
using Room = std::array<std::byte, kRoomMax>;

class Filler {
 public:
  Filler(const BlockForm& form, Format format, std::span<const std::byte> source, std::size_t room,
         std::size_t granule, std::span<std::byte> out)
      : encode_(form.encode[index_of(static_cast<std::uint8_t>(format))]),
        element_(element_bytes(format)),
        block_room_(block_room(format)),
        granule_(granule),
        source_(source),
        room_(std::min(room, out.size())),
        out_(out) {}

  Packet fill(Format format) {
    if (room_ == 0 || source_.empty()) return {};
    out_[0] = static_cast<std::byte>(format);
    packet_.written = 1;
    const std::size_t block = kBlockElements * element_;
    std::size_t bytes = block;
    while (bytes == block && left() >= element_)
      bytes = add_block(std::min(block, left() / element_ * element_));
    if (left() > 0 && left() < element_) add_rest();
    if (packet_.taken == 0) return {};
    return packet_;
  }

 private:
  // Encodes `bytes` bytes of the source as one block, or fewer if they do not fit. Returns their
  // number.
  std::size_t add_block(std::size_t bytes) {
    std::size_t wanted = bytes;
    while (wanted > 0) {
      const std::size_t size = encode_next(wanted);
      const std::size_t free = room_ - packet_.written;
      const std::size_t behind =
          left() - wanted;  // the last block is followed by bytes that form no whole element
      if (size + (behind < element_ ? behind : 0) <= free) {
        packet_.written += size;
        packet_.taken += wanted;
        break;
      }
      wanted = shorter(wanted, size, free);
    }
    return wanted;
  }

  // The part of a block of `bytes` bytes, which takes `size` encoded, that may fit in `free`.
  std::size_t shorter(std::size_t bytes, std::size_t size, std::size_t free) const {
    const std::size_t fits = std::min(bytes * free / size, bytes - 1);
    const std::size_t end = packet_.taken + fits;
    const std::size_t cut = end - end % granule_;
    return cut > packet_.taken ? cut - packet_.taken : 0;
  }

  // Encodes the next `bytes` bytes after the written part of the packet, if there is room. Returns
  // the encoded size.
  std::size_t encode_next(std::size_t bytes) {
    const std::byte* in = source_.data() + packet_.taken;
    const std::size_t elements = bytes / element_;
    Input input;
    if (elements % kVectorElements != 0) {
      std::memcpy(input.data(), in, bytes);
      std::memset(input.data() + bytes, 0, padded(elements) * element_ - bytes);
      in = input.data();
    }
    std::byte* const to = out_.data() + packet_.written;
    std::uint8_t largest = packet_.largest_exponent;
    std::size_t size;
    if (out_.size() - packet_.written >= block_room_) {
      size = encode_(in, elements, to, largest);
    } else {
      Room own;
      size = encode_(in, elements, own.data(), largest);
      if (size <= room_ - packet_.written) std::memcpy(to, own.data(), size);
    }
    if (size <= room_ - packet_.written) packet_.largest_exponent = largest;
    return size;
  }

  // Appends the bytes at the end of a message that form no whole element.
  void add_rest() {
    const std::size_t bytes = left();
    if (bytes > room_ - packet_.written) return;
    std::memcpy(out_.data() + packet_.written, source_.data() + packet_.taken, bytes);
    packet_.written += bytes;
    packet_.taken += bytes;
  }

  std::size_t left() const { return source_.size() - packet_.taken; }

  BlockForm::Encode encode_;
  std::size_t element_;
  std::size_t block_room_;
  std::size_t granule_;
  std::span<const std::byte> source_;
  std::size_t room_;
  std::span<std::byte> out_;
  Packet packet_;
};

}  // namespace

std::span<const BlockForm* const> block_forms() {
  static const auto forms = [] {
    std::array<const BlockForm*, 3> all{&portable_form()};
    std::size_t count = 1;
    for (const BlockForm* const form : {avx2_form(), neon_form()})
      if (form != nullptr) all[count++] = form;
    return std::pair(all, count);
  }();
  return std::span(forms.first).first(forms.second);
}

const BlockForm& best_form() {
  static const BlockForm* const form = [] {
    const BlockForm* best = nullptr;
    for (const BlockForm* const candidate : block_forms())
      if (candidate->supported) best = candidate;
    return best;
  }();
  return *form;
}

Packet encode(const BlockForm& form, Format format, std::span<const std::byte> source,
              std::size_t room, std::size_t granule, std::span<std::byte> out) {
  return Filler(form, format, source, room, granule, out).fill(format);
}

bool decode(const BlockForm& form, std::span<const std::byte> packet, std::span<std::byte> out) {
  if (packet.empty()) return false;
  const std::size_t index = index_of(static_cast<std::uint8_t>(packet[0]));
  if (index == kFormatCount) return false;
  const Format format = kFormats[index];
  const BlockForm::Decode decode = form.decode[index];
  const std::size_t element = element_bytes(format);
  const std::size_t room = block_room(format);
  std::span<const std::byte> left = packet.subspan(1);
  while (out.size() >= element) {
    const std::size_t elements = std::min(kBlockElements, out.size() / element);
    std::size_t read;
    if (left.size() >= room) {
      read = decode(left.data(), left.size(), out.data(), elements);
    } else {
      Room own;
      if (!left.empty()) std::memcpy(own.data(), left.data(), left.size());
      std::memset(own.data() + left.size(), 0, room - left.size());
      read = decode(own.data(), left.size(), out.data(), elements);
    }
    if (read == 0) return false;
    left = left.subspan(read);
    out = out.subspan(elements * element);
  }
  if (left.size() != out.size()) return false;
  if (!out.empty()) std::memcpy(out.data(), left.data(), out.size());
  return true;
}

Packet encode(Format format, std::span<const std::byte> source, std::size_t room,
              std::size_t granule, std::span<std::byte> out) {
  return encode(best_form(), format, source, room, granule, out);
}

bool decode(std::span<const std::byte> packet, std::span<std::byte> out) {
  return decode(best_form(), packet, out);
}

}  // namespace dlcp::compression
