// What a message holds, byte by byte: a base that depends on the position (a multiply-xorshift of
// seed, flow and position), and marks that depend on the message too: one 8-byte word in every 512
// bytes, or every word of messages up to 4 KiB. Swapped packets, swapped messages and bytes left
// over from a slot's last use are all seen, while re-marking a slot costs about 1% of sending it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "cli/driver/slots.h"

namespace dlcp::cli {

// splitmix64's finalizer (Steele, Lea, Flood 2014).
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t flow_key(std::uint64_t seed, int source, int destination, int channel);

struct Mismatch {
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;  // 4-byte words with a wrong byte in them
  Mismatch& operator+=(const Mismatch& other);
};

// Adds the differences of two ranges; for when they are known to differ.
Mismatch count_differences(const std::byte* seen, const std::byte* expected, std::size_t bytes);

// What payloads are made of: bytes that do not compress, or numbers distributed as gradients are,
// about normal around 0, of a scale that differs from one 64 KiB to the next as it does between the
// tensors of a model. kAmp: fp32 whose low 16 bits are zero, as mixed precision leaves them.
enum class Data { kRandom, kBf16, kF32, kAmp };
inline constexpr std::size_t kDatas = 4;
const char* name_of(Data data);

// The 8 bytes at `index` x 8 of a flow's payload, made of random `bits`.
std::uint64_t make_word(Data data, std::uint64_t key, std::size_t index, std::uint64_t bits);

class Payload {
 public:
  static constexpr std::size_t kBlock = 512;

  Payload(std::uint64_t key, std::size_t size, Data data = Data::kRandom);

  void fill(std::byte* slot) const;                         // once per slot
  void mark(std::byte* slot, std::uint64_t message) const;  // before each use of it
  // Compares [from, to) of a received message; `from` is a multiple of kBlock.
  Mismatch check(const std::byte* slot, std::uint64_t message, std::size_t from,
                 std::size_t to) const;

 private:
  std::uint64_t word(std::uint64_t message, std::size_t index) const;  // a marked word

  std::uint64_t key_;
  std::size_t size_;
  Data data_;
  std::size_t stride_;  // bytes from mark to mark
  std::vector<std::uint64_t> base_;
};

// NCCL's flagged formats, and readers that treat them as a GPU does. LL: lines of 16 bytes, {data,
// flag, data, flag}. LL128: lines of 128 bytes, fifteen 8-byte words of data and the flag last. The
// flag is the message's number plus one; whoever sees it takes the data at once.
enum class LineFlags { kNone, kLl, kLl128 };
inline constexpr std::size_t kLineFlags = 3;
const char* name_of(LineFlags flags);

class LinePayload {
 public:
  LinePayload(std::uint64_t key, std::size_t size, LineFlags flags, Data data = Data::kRandom);

  std::size_t line_bytes() const { return flags_ == LineFlags::kLl ? 16 : 128; }
  std::size_t lines() const { return size_ / line_bytes(); }
  void encode(std::byte* slot, std::uint64_t message) const;
  // False if the line's flags are not this message's yet; else its data are checked at once.
  bool take(const std::byte* slot, std::uint64_t message, std::size_t line, Mismatch& wrong) const;

 private:
  std::uint64_t word(std::uint64_t message, std::size_t index) const;

  std::uint64_t key_;
  std::size_t size_;
  LineFlags flags_;
  Data data_;
};

// Two threads that read every line of every message as soon as its flag is there, message after
// message.
class LinePollers {
 public:
  LinePollers(const LinePayload& payload, Slots& slots);
  ~LinePollers();

  std::uint64_t consumed() const;  // messages that both have read to the end
  Mismatch mismatch() const;

 private:
  static constexpr std::size_t kThreads = 2;
  struct alignas(64) Reader {
    std::atomic<std::uint64_t> consumed{0};
    std::atomic<std::uint64_t> wrong_bytes{0};
    std::atomic<std::uint64_t> wrong_elements{0};
    std::thread thread;
  };
  void read(std::size_t which);
  bool read_message(std::size_t which, std::uint64_t message);

  LinePayload payload_;
  Slots& slots_;
  std::atomic<bool> stop_{false};
  std::vector<Reader> readers_;
};

}  // namespace dlcp::cli
