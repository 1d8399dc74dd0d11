// Decides, for each message of a stream, whether it is compressed, in which format, and how long
// its chunks are. It uses samples of the message, because the type of the elements is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compression/format.h"

namespace dlcp::core {

// How a message is sent.
struct MessageCoding {
  std::uint32_t chunk_bytes = 0;  // 0: not compressed, in chunks of the agreed size
  compression::Format format = compression::Format::kBfloat16;

  bool used() const { return chunk_bytes != 0; }
};

class Coder {
 public:
  // `payload_bytes`: of an uncompressed packet.
  MessageCoding choose(std::span<const std::byte> message, std::uint32_t payload_bytes);
  // Packets without compression per packet with it, for the last message that was sampled.
  double ratio() const { return ratio_; }

 private:
  // Messages that are sent without sampling after a message that did not compress: one at first,
  // twice as many after each further one, up to this number.
  static constexpr unsigned kPassMax = 64;

  std::optional<compression::Format> format_;  // of the last message
  double ratio_ = 1;
  unsigned pass_ = 0;  // messages still to be sent without sampling
  unsigned pass_next_ = 1;
};

}  // namespace dlcp::core
