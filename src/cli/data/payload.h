// The contents of messages, known byte by byte, so that the receiver can compare all of them.
//
// A plain message is a base that depends on the position alone, with marks that also depend on the
// message's number: one 8-byte word in every 512 bytes, or every word of a message of up to 4 KiB.
// The check therefore finds swapped packets, swapped messages, and bytes left over from the slot's
// previous message. Writing the marks costs about 1% of what sending the message costs.
//
// A flagged message has one of NCCL's formats of lines, which a GPU reads while they arrive. LL:
// 16 bytes, {data, flag, data, flag}. LL128: 128 bytes, fifteen 8-byte words of data, then the
// flag. The flag is the message's number plus one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlcp::cli {

// The finalizer of splitmix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t flow_key(std::uint64_t seed, int source, int destination, int channel);

struct Mismatch {
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;  // 4-byte words that contain a wrong byte
  Mismatch& operator+=(const Mismatch& other);
};

// The kinds of payloads. kRandom: bytes that do not compress. The others are numbers
// distributed as gradients are: about normal around 0, with a scale of its own for each 64 KiB, as
// the tensors of a model differ. kAmp: fp32 whose low 16 bits are zero, as mixed precision leaves
// them. kRows, kRowsBf16: fp32 or bf16 of an embedding table; 95% of its rows (2 KiB each) are
// zero, because their tokens did not occur in the batch.
enum class Data { kRandom, kBf16, kF32, kAmp, kRows, kRowsBf16 };
inline constexpr std::size_t kDatas = 6;
const char* name_of(Data data);

// The bits of a float32 from a normal distribution of deviation 2^-shift, made of random bits. Its
// mantissa is random, as that of a real gradient.
std::uint32_t normal_bits(std::uint32_t random, std::uint32_t shift);

enum class LineFlags { kNone, kLl, kLl128 };
inline constexpr std::size_t kLineFlags = 3;
const char* name_of(LineFlags flags);
constexpr std::size_t line_bytes(LineFlags flags) {
  return flags == LineFlags::kLl ? 16 : 128;
}

// The messages of one flow.
class Payload {
 public:
  static constexpr std::size_t kBlock = 512;

  Payload(std::uint64_t key, std::size_t size, Data data = Data::kRandom,
          LineFlags flags = LineFlags::kNone);

  void fill(std::byte* slot) const;                         // once per slot
  void mark(std::byte* slot, std::uint64_t message) const;  // before each use of the slot

  // Compares bytes [from, to) of a plain message; `from` is a multiple of kBlock.
  Mismatch check(const std::byte* slot, std::uint64_t message, std::size_t from,
                 std::size_t to) const;

  std::size_t lines() const { return size_ / line_bytes(flags_); }
  // Checks one line of a flagged message and adds what differs to `wrong`. Returns false, without
  // checking, while the line's flags are not yet those of this message.
  bool take(const std::byte* slot, std::uint64_t message, std::size_t line, Mismatch& wrong) const;

 private:
  std::uint64_t number_word(std::size_t index, std::uint64_t bits) const;
  std::uint64_t marked_word(std::uint64_t message, std::size_t index) const;
  void encode_line(std::byte* at, std::uint64_t message, std::size_t line) const;

  std::uint64_t key_;
  std::size_t size_;
  Data data_;
  LineFlags flags_;
  std::size_t stride_;                 // bytes from one mark to the next
  std::vector<std::uint32_t> shifts_;  // scales of numbers: 2^-shift, by tensor
  std::vector<std::uint64_t> base_;    // of a plain message
};

}  // namespace dlcp::cli
