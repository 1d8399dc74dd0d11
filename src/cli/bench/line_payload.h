// NCCL's flagged formats, and readers that treat them as a GPU does. LL: lines of 16 bytes, {data,
// flag, data, flag}. LL128: lines of 128 bytes, fifteen 8-byte words of data and the flag last. The
// flag is the message's number plus one; whoever sees it takes the data there and then, without
// waiting for the plugin to report anything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "cli/bench/bench_case.h"
#include "cli/bench/payload.h"
#include "cli/bench/slots.h"

namespace dlcp::cli {

class LinePayload {
 public:
  LinePayload(std::uint64_t key, std::size_t size, LineFlags flags);

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
