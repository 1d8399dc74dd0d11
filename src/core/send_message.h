// One message at its sender: which chunks were sent, are lost, or are acknowledged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/endpoint.h"
#include "util/bitmap.h"

namespace dlcp::core {

struct SendMessage {
  RequestId request = 0;
  std::span<const std::byte> bytes;
  std::uint32_t chunks = 0;
  std::uint32_t next_new = 0;  // chunks that were sent at least once, in order from `start`
  std::uint32_t start = 0;     // so that no element is always at the end; 0 if not licensed
  std::uint32_t acked_count = 0;
  std::uint32_t lost_count = 0;
  bool reported = false;
  bool forgoes = false;
  Bitmap acked;
  Bitmap lost;

  // How many chunks are sent before this one.
  std::uint32_t turn(std::uint32_t chunk) const {
    return chunk >= start ? chunk - start : chunk + chunks - start;
  }
  bool was_sent(std::uint32_t chunk) const { return turn(chunk) < next_new; }
};

}  // namespace dlcp::core
