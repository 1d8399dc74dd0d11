// The path of the answers to frames that a peer repeats, on one of its paths after the other, until
// it receives an answer. Perhaps no path works in both directions. Therefore only the first answers
// take the path of the frame; the later ones take all paths in turn.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/packet.h"

namespace dlcp::core {

class AnswerTurns {
 public:
  void restart() { answers_ = 0; }
  void on_frame(wire::PathIndex came_on) { frame_path_ = came_on; }
  // The path of the next answer.
  wire::PathIndex next(std::size_t paths) {
    constexpr std::size_t kFirst = 3;  // as many as a handshake without loss has
    return ++answers_ <= kFirst ? frame_path_ : static_cast<wire::PathIndex>(answers_ % paths);
  }

 private:
  std::size_t answers_ = 0;
  wire::PathIndex frame_path_ = 0;  // of the last frame
};

// The answer to a PROBE.
struct DueAnswer {
  std::uint32_t echo = 0, bytes = 0;  // of the PROBE
  wire::PathIndex path = 0;           // that the answer takes
};

}  // namespace dlcp::core
