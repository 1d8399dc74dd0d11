// What the workers of a job send the switch before all else, each in the same slot, which no sum
// uses. The answer proves that the switch is there, adds as many workers as there are, and knows
// each of them by a number of his own. Sent again it is a repeat, which the switch answers with the
// same sum: so whoever waits long for another sum asks whether the switch is still there.
//
// Numbers: 1; 1 at place 1 + rank; the word that all must have alike; the rest 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collective/switch_packet.h"

namespace dlcp::collective {

class SwitchHello {
 public:
  struct Terms {
    unsigned workers = 2;  // 1 to 32
    unsigned rank = 0;
    unsigned slot = 511;  // behind those of sums
    unsigned values = 256;
    std::uint8_t job = 0;
    std::uint32_t serial = 0;  // of this job alone
    std::uint32_t word = 0;    // the same for all
  };
  enum class Answer : std::uint8_t {
    kNone,   // something else
    kRight,  // all are there
    kWrong,  // a sum of other workers; fault() says why
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
