// The GPU's part towards flagged messages: two threads that read every line as soon as its flag is
// there, message after message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "cli/data/payload.h"
#include "cli/driver/slots.h"

namespace dlcp::cli {

class LinePollers {
 public:
  LinePollers(const Payload& payload, Slots& slots);  // both outlive the pollers
  ~LinePollers();

  std::uint64_t consumed() const;  // messages that both threads have read to the end
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

  const Payload& payload_;
  Slots& slots_;
  std::atomic<bool> stop_{false};
  std::vector<Reader> readers_;
};

}  // namespace dlcp::cli
