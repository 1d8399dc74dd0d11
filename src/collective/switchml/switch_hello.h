// The first packet that each worker of a job sends to the switch, in a slot that sums do not use.
// The answer proves that the switch is reachable, adds the right number of workers, and has a
// different number for each of them. If the packet is sent again, the switch treats it as a repeat
// and answers with the same sum. A worker that waits long for another sum uses this to test whether
// the switch still answers.
//
// Values: 1; 1 at index 1 + rank; the word that must be the same on all workers; the rest 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collective/switchml/switch_packet.h"

namespace dlcp::collective {

class SwitchHello {
 public:
  struct Terms {
    unsigned workers = 2;  // 1 to 32
    unsigned rank = 0;
    unsigned slot = 511;  // after the slots of sums
    unsigned values = 256;
    std::uint8_t job = 0;
    std::uint32_t serial = 0;  // unique to this job
    std::uint32_t word = 0;    // the same on all workers
  };
  enum class Answer : std::uint8_t {
    kNone,   // not an answer to this packet
    kRight,  // all workers are present
    kWrong,  // the sum of other workers; fault() gives the reason
  };

  explicit SwitchHello(const Terms& terms);

  std::span<const std::byte> packet() const { return packet_; }
  Answer read(std::span<const std::byte> datagram);
  const std::string& fault() const { return fault_; }

 private:
  std::string fault_of(std::span<const std::byte> answer) const;

  Terms terms_;
  std::vector<std::byte> packet_;
  std::string fault_;
};

}  // namespace dlcp::collective
