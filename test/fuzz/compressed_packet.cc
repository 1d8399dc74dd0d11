// The decoder of compressed packets, on any bytes: the portable and the vectorised implementation
// agree, and encoded data is restored.
#include "compression/packet_code.h"
#include "fuzz_input.h"

using namespace dlcp::compression;
using dlcp::test::require;

namespace {

// In memory of exactly its size, so that a sanitizer detects any access outside.
void decode_with_all(const std::vector<std::byte>& packet, std::size_t size) {
  std::vector<std::byte> expected(size);
  const bool good = decode(portable_form(), packet, expected);
  for (const BlockForm* const form : block_forms()) {
    if (!form->supported) continue;
    std::vector<std::byte> out(size);
    require(decode(*form, packet, out) == good, "all implementations accept the same packets");
    require(!good || out == expected, "all implementations decode to the same bytes");
  }
}

void encode_and_back(Format format, const std::vector<std::byte>& source, std::size_t room) {
  std::vector<std::byte> expected(room);
  const Packet packet = encode(portable_form(), format, source, room, 4, expected);
  require(packet.written <= room && packet.taken <= source.size(), "a packet is within its room");
  expected.resize(packet.written);
  for (const BlockForm* const form : block_forms()) {
    if (!form->supported) continue;
    std::vector<std::byte> out(room);
    require(encode(*form, format, source, room, 4, out).taken == packet.taken,
            "all forms take as much");
    out.resize(packet.written);
    require(out == expected, "all implementations encode to the same bytes");
    if (packet.taken == 0) continue;
    std::vector<std::byte> back(packet.taken);
    require(decode(*form, out, back), "encoded data decodes");
    require(std::equal(back.begin(), back.end(), source.begin()), "decoding restores the bytes");
  }
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (const Format format : kFormats) {
    std::vector<std::byte> source(1400);
    for (std::size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<std::byte>(i % 4 == 3 ? 0x3c + i % 3 : i * 37);
    std::vector<std::byte> out(encoded_bytes_max(format, source.size()));
    const Packet packet = encode(format, source, out.size(), 4, out);
    std::string seed(4, '\0');
    seed[0] = static_cast<char>(source.size() & 0xff);
    seed[1] = static_cast<char>(source.size() >> 8);
    seed.append(reinterpret_cast<const char*>(out.data()), packet.written);
    seeds.push_back(seed);
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dlcp::test::FuzzInput input(data, size);
  const std::size_t bytes = input.below(8192);
  const std::size_t room = input.below(4096);
  const auto rest = input.take_bytes(size);
  const std::vector<std::byte> packet(rest.begin(), rest.end());
  decode_with_all(packet, bytes);
  if (packet.empty()) return 0;
  const auto format = kFormats[static_cast<std::size_t>(packet[0]) % kFormatCount];
  encode_and_back(format, packet, room);
  return 0;
}
