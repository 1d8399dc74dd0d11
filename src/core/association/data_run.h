// Data packets of one stream that arrived one after the other and are handled together: what a
// receiver does once for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/endpoint_types.h"
#include "wire/data/data_header.h"

namespace dlcp::core {

struct DataRun {
  std::vector<Placement>& placements;
  std::uint32_t packets = 0;        // accepted so far
  std::uint32_t fresh = 0;          // those of them that had not arrived before
  std::uint32_t message_bytes = 0;  // of the message that ends; if none does, of the last packet's
  bool copied = false;              // the sender has copied that message
  std::uint16_t window_epoch = 0;   // the newest
  wire::PathIndex reply_path = 0;   // of the last one
  bool asks_ack = false;            // one of them does
  bool ends_message = false;        // one of them does
  bool ends = false;                // no further packet may join

  // `header` is that of the last of `count` packets that differ only in offset and number.
  void add(const wire::DataHeader& header, std::size_t payload_bytes, std::uint32_t count = 1) {
    const bool ends_one = header.offset + payload_bytes >= header.message_bytes;
    if (ends_one || !ends_message) {
      message_bytes = header.message_bytes;
      copied = header.copied;
    }
    const auto newer = static_cast<std::int16_t>(header.window_epoch - window_epoch);
    if (packets == 0 || newer > 0) window_epoch = header.window_epoch;
    reply_path = header.reply_path;
    asks_ack |= header.asks_ack;
    ends_message |= ends_one;
    packets += count;
  }
};

}  // namespace dlcp::core
