// Decides, for each message of a stream, whether it is compressed, in which format, and how long
// its chunks are. It looks at samples of the message; nobody tells it the type of the elements.
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

// A message is compressed if it then takes at most 1 / kRatioMin of the packets.
inline constexpr double kRatioMin = 1.05;

class Coder {
 public:
  // `payload_bytes`: of a packet that is not compressed.
  MessageCoding choose(std::span<const std::byte> message, std::uint32_t payload_bytes);
  // Of the last message that was looked at: packets without compression, for one with it.
  double ratio() const { return ratio_; }

 private:
  // After a message that did not compress, so many are sent without a look at them; twice as many
  // after each further one.
  static constexpr unsigned kPassMax = 64;

  std::optional<compression::Format> format_;  // of the last message
  double ratio_ = 1;
  unsigned pass_ = 0;  // messages that are still passed
  unsigned pass_next_ = 1;
};

}  // namespace dlcp::core
