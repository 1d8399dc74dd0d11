// Every implementation gives the same bytes and restores every bit: of all 16-bit patterns, of
// special values, for any length, and for packets of any room.
#include "compression/packet_code.h"

#include <algorithm>

#include "catch.h"
#include "compression/gradients.h"
#include "util/rng.h"

using namespace dlcp;
using namespace dlcp::compression;

namespace {

using Bytes = std::vector<std::byte>;

std::span<const BlockForm* const> forms() {
  return block_forms();
}

// Encodes with every implementation, requires equal results, and returns the packet.
Bytes encoded(Format format, const Bytes& source) {
  Bytes first;
  for (const BlockForm* const form : forms()) {
    if (!form->supported) continue;
    Bytes out(encoded_bytes_max(format, source.size()) + block_room(format));
    const Packet packet = encode(*form, format, source, out.size(), 1, out);
    INFO(form->name << ", " << name_of(format) << ", " << source.size() << " bytes");
    REQUIRE(packet.taken == source.size());
    REQUIRE(packet.written <= encoded_bytes_max(format, source.size()));
    out.resize(packet.written);
    if (form == forms().front()) first = out;
    REQUIRE(out == first);
  }
  return first;
}

void require_exact(Format format, const Bytes& source) {
  const Bytes packet = encoded(format, source);
  for (const BlockForm* const form : forms()) {
    if (!form->supported) continue;
    Bytes back(source.size(), std::byte{0x5a});
    INFO(form->name << ", " << name_of(format) << ", " << source.size() << " bytes");
    REQUIRE(decode(*form, packet, back));
    REQUIRE(back == source);
  }
}

Bytes random_bytes(std::size_t size, Rng& rng) {
  Bytes bytes(size);
  for (auto& byte : bytes)
    byte = static_cast<std::byte>(rng.below(256));
  return bytes;
}

template <class Word>
Bytes bytes_of(const std::vector<Word>& words) {
  Bytes bytes(words.size() * sizeof(Word));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// Elements whose exponents are at most `spread` below the largest, with `zero_bits` lowest bits
// zero and groups of zeros in between.
Bytes drawn(Format format, std::size_t count, Rng& rng) {
  const std::size_t size = element_bytes(format);
  const unsigned spread = 1 + static_cast<unsigned>(rng.below(40));
  const auto top = static_cast<unsigned>(rng.below(256));
  const auto zero_bits = static_cast<unsigned>(rng.below(8 * size));
  const double zeros = rng.chance(0.5) ? rng.unit() : 0;
  const unsigned mantissa = format == Format::kFloat32      ? 23
                            : format == Format::kBfloat16   ? 7
                            : format == Format::kFloat16    ? 10
                            : format == Format::kFloat8E4m3 ? 3
                                                            : 2;
  Bytes bytes(count * size);
  bool zero = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 8 == 0) zero = rng.chance(zeros);
    if (zero) continue;
    std::uint64_t bits = rng.next() & ((std::uint64_t{1} << mantissa) - 1);
    bits |= ((top - rng.below(spread)) & 0xff) << mantissa;
    bits |= rng.below(2) << (8 * size - 1);
    bits &= ~((std::uint64_t{1} << zero_bits) - 1) | std::uint64_t{1} << (8 * size - 1);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

}  // namespace

TEST_CASE("all 16-bit patterns are restored, in order, and each alone in a block",
          "[compression]") {
  for (const Format format : {Format::kBfloat16, Format::kFloat16, Format::kFloat8E4m3,
                              Format::kFloat8E5m2, Format::kFloat32}) {
    std::vector<std::uint16_t> all(0x10000);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<std::uint16_t>(i);
    require_exact(format, bytes_of(all));
    for (auto& word : all)  // so that neighbours have different exponents
      word = static_cast<std::uint16_t>(word * 40503u);
    require_exact(format, bytes_of(all));
  }
  for (std::size_t i = 0; i < 0x10000; i += 7) {
    std::vector<std::uint16_t> block(kBlockElements, 0x3f80);
    block[i % kBlockElements] = static_cast<std::uint16_t>(i);
    require_exact(Format::kBfloat16, bytes_of(block));
    require_exact(Format::kFloat16, bytes_of(block));
  }
}

TEST_CASE("special values are restored bit for bit", "[compression]") {
  const std::vector<std::uint32_t> special{
      0x0000'0000, 0x8000'0000, 0x0000'0001, 0x8000'0001, 0x007f'ffff, 0x0080'0000, 0x7f7f'ffff,
      0x7f80'0000, 0xff80'0000, 0x7f80'0001, 0x7fc0'0000, 0xffc1'2345, 0x7fff'ffff, 0xffff'ffff};
  for (const std::uint32_t one : special) {
    for (const std::size_t at : {0, 15, 16, 100, 255}) {
      std::vector<std::uint32_t> block(kBlockElements, 0);
      block[at] = one;
      require_exact(Format::kFloat32, bytes_of(block));
      Bytes among = test::gradients(Format::kFloat32, kBlockElements, 3);
      std::memcpy(among.data() + 4 * at, &one, sizeof one);
      require_exact(Format::kFloat32, among);
    }
    require_exact(Format::kFloat32, bytes_of(std::vector<std::uint32_t>(300, one)));
  }
}

TEST_CASE("random elements of any length are restored", "[compression]") {
  Rng rng(11);
  for (int round = 0; round < 1500; ++round) {
    const Format format = kFormats[rng.below(kFormatCount)];
    require_exact(format, drawn(format, 1 + rng.below(700), rng));
  }
  for (std::size_t size = 0; size < 1100; ++size)
    for (const Format format : {Format::kBfloat16, Format::kFloat32})
      if (size > 0) require_exact(format, random_bytes(size, rng));
}

TEST_CASE("gradients shrink as much as their format allows", "[compression]") {
  struct Row {
    Format format;
    test::Gradients what;
    double ratio;
  };
  const Row rows[] = {{Format::kBfloat16, {}, 1.34},
                      {Format::kBfloat16, {.zeros = 0.95}, 12},
                      {Format::kFloat16, {}, 1.08},
                      {Format::kFloat32, {}, 1.15},
                      {Format::kFloat32, {.autocast = true}, 2.6},
                      {Format::kFloat32, {.workers = 2, .autocast = true}, 1.5},
                      {Format::kFloat32, {.workers = 4, .autocast = true}, 1.4},
                      {Format::kFloat32, {.zeros = 0.95}, 12},
                      {Format::kFloat8E5m2, {}, 1.15}};
  for (const Row& row : rows) {
    const Bytes source = test::gradients(row.format, 65536, 5, row.what);
    const Bytes packet = encoded(row.format, source);
    INFO(name_of(row.format) << ", sum of " << row.what.workers << ", zeros " << row.what.zeros);
    CHECK(static_cast<double>(source.size()) / static_cast<double>(packet.size()) > row.ratio);
    require_exact(row.format, source);
  }
}

TEST_CASE("zeros take one byte per block, and incompressible bytes grow by one byte at most",
          "[compression]") {
  for (const Format format : kFormats) {
    const std::size_t blocks = 10;
    const Bytes zeros(blocks * kBlockElements * element_bytes(format));
    CHECK(encoded(format, zeros).size() == 1 + blocks);
    Rng rng(3);
    const Bytes bytes = random_bytes(zeros.size(), rng);
    CHECK(encoded(format, bytes).size() <= 1 + bytes.size() + blocks);
  }
}

TEST_CASE("a packet is filled: one granule more would not fit", "[compression]") {
  for (const Format format : {Format::kBfloat16, Format::kFloat32}) {
    const Bytes source = test::gradients(format, 16384, 8);
    for (const std::size_t granule : {4, 32, 128}) {
      for (const std::size_t room : {1372, 4072, 8872}) {
        Bytes out(room);
        for (std::size_t at = 0; at < source.size();) {
          const auto left = std::span(source).subspan(at);
          const Packet packet = encode(format, left, room, granule, out);
          INFO(name_of(format) << ", granule " << granule << ", room " << room << ", at " << at);
          REQUIRE(packet.taken > 0);
          REQUIRE(packet.written <= room);
          if (packet.taken < left.size()) {
            REQUIRE(packet.taken % granule == 0);
            // The length of the last block is an estimate that is never increased.
            REQUIRE(packet.written + granule + 64 > room);
          }
          Bytes back(packet.taken);
          REQUIRE(decode(std::span(out).first(packet.written), back));
          REQUIRE(std::equal(back.begin(), back.end(), left.begin()));
          at += packet.taken;
        }
      }
    }
  }
}

TEST_CASE("nothing is written beyond the room, and nothing is consumed if nothing fits",
          "[compression]") {
  Bytes source = test::gradients(Format::kBfloat16, 600, 8);
  source.push_back(std::byte{1});  // half an element
  for (std::size_t room = 0; room < 1500; ++room) {
    Bytes out(room);  // of exactly this size, for AddressSanitizer
    const Packet packet = encode(Format::kBfloat16, source, room, 2, out);
    REQUIRE(packet.written <= room);
    REQUIRE((packet.taken == 0) == (packet.written == 0));
    if (room > 32) REQUIRE(packet.taken > 0);
    REQUIRE((packet.taken == source.size() || packet.taken % 2 == 0));
    if (room > 1000) REQUIRE(packet.taken == source.size());
    Bytes back(packet.taken);
    if (packet.taken > 0)
      REQUIRE(decode(std::span<const std::byte>(out).first(packet.written), back));
  }
  CHECK(encode(Format::kBfloat16, {}, 100, 2, std::span<std::byte>()).taken == 0);
}

TEST_CASE("the largest exponent belongs to the largest magnitude", "[compression]") {
  std::vector<float> values(600, 0.01f);
  values[555] = -40.0f;  // in the last, short block: 40 is at least 2^5
  const Bytes source = bytes_of(values);
  Bytes out(4096);
  CHECK(encode(Format::kFloat32, source, out.size(), 4, out).largest_exponent == 127 + 5);
}

TEST_CASE("a packet that was truncated or has another size is refused", "[compression]") {
  const Bytes source = test::gradients(Format::kBfloat16, 1000, 4);
  const Bytes packet = encoded(Format::kBfloat16, source);
  Bytes back(source.size());
  REQUIRE(decode(packet, back));
  for (std::size_t size = 0; size < packet.size(); ++size) {
    const Bytes cut(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
    REQUIRE_FALSE(decode(cut, back));
  }
  Bytes longer = packet;
  longer.push_back({});
  CHECK_FALSE(decode(longer, back));
  for (const std::size_t size : {source.size() - 2, source.size() + 2, std::size_t{0}}) {
    Bytes other(size);
    CHECK_FALSE(decode(packet, other));
  }
  Bytes unknown = packet;
  for (const int format : {0, 6, 255}) {
    unknown[0] = static_cast<std::byte>(format);
    CHECK_FALSE(decode(unknown, back));
  }
}

TEST_CASE("any bytes decode to an error or to data, the same in every implementation",
          "[compression]") {
  Rng rng(21);
  for (int round = 0; round < 20000; ++round) {
    const Format format = kFormats[rng.below(kFormatCount)];
    Bytes packet = rng.chance(0.3) ? random_bytes(1 + rng.below(600), rng)
                                   : encoded(format, drawn(format, 1 + rng.below(300), rng));
    for (std::size_t i = rng.below(5); i > 0; --i)
      packet[rng.below(packet.size())] = static_cast<std::byte>(rng.below(256));
    packet[0] = static_cast<std::byte>(format);
    Bytes first;
    bool first_good = false;
    const std::size_t size = 1 + rng.below(1200);
    for (const BlockForm* const form : forms()) {
      if (!form->supported) continue;
      Bytes out(size);
      const bool good = decode(*form, packet, out);
      if (form == forms().front()) {
        first = out;
        first_good = good;
      }
      REQUIRE(good == first_good);
      if (good) REQUIRE(out == first);
    }
  }
}
