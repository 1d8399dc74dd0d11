// Memory of the control frames that one poll_transmit hands out; reused by the next.
#pragma once

#include <deque>

#include "wire/control_frame.h"
#include "wire/loss_frame.h"
#include "wire/packet.h"

namespace dlcp::core {

class FrameArena {
 public:
  void reset() { used_ = 0; }

  // Encodes `frame` and makes `out` a packet of it. References stay valid until reset().
  template <class Frame>
  void emit(const Frame& frame, wire::PathIndex path, const wire::EndpointAddress& to,
            wire::TxPacket& out) {
    if (used_ == frames_.size()) frames_.emplace_back();
    wire::Buffer& buffer = frames_[used_++];
    wire::encode(frame, buffer);
    wire::set_path(buffer, path);
    out.header_bytes = 0;
    out.payload = buffer;
    out.traffic_class = TrafficClass::kControl;
    out.path = path;
    out.destination = &to;
  }

 private:
  std::deque<wire::Buffer> frames_;
  std::size_t used_ = 0;
};

}  // namespace dlcp::core
