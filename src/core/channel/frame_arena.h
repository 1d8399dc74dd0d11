// Memory for the packets of one poll_transmit call that are not in the user's memory: control
// frames, and payloads that were encrypted, compressed or padded. The next call reuses it.
#pragma once

#include <deque>

#include "wire/frames/control_frame.h"
#include "wire/packet.h"

namespace dlcp::core {

class FrameArena {
 public:
  void reset() { used_ = 0; }
  // Memory for one packet; it stays valid until reset().
  wire::Buffer& take() {
    if (used_ == frames_.size()) frames_.emplace_back();
    return frames_[used_++];
  }

  // Encodes and seals `frame` and describes it in `out`. References stay valid until reset().
  template <class Frame>
  void emit(const Frame& frame, const wire::Key& key, std::uint64_t sequence, wire::PathIndex path,
            const wire::EndpointAddress& to, wire::TxPacket& out) {
    wire::Buffer& buffer = take();
    wire::encode(frame, buffer);
    wire::seal(buffer, key, sequence, path);
    out.header_bytes = 0;
    out.payload = buffer;
    out.traffic_class = TrafficClass::kControl;
    out.unmarked = false;
    out.path = path;
    out.destination = &to;
  }

 private:
  std::deque<wire::Buffer> frames_;
  std::size_t used_ = 0;
};

// The destination of a connection's control frames.
struct Recipient {
  std::uint64_t token = 0;  // of the peer's end
  const wire::EndpointAddress* address = nullptr;
};

struct AnswerPath {
  wire::PathIndex path = 0;     // on which answers probably arrive
  std::size_t paths = 1;        // some repeated answers take other ones
  std::size_t frame_bytes = 0;  // the most in one frame
  wire::PathIndex next() const { return static_cast<wire::PathIndex>((path + 1u) % paths); }
};

}  // namespace dlcp::core
