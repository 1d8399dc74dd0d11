// A Coder decides, for each message of a stream, whether the message is compressed, in which format
// (the type of its elements, compression/format.h), and how many of its bytes form a chunk. It does
// not know the type, so it compresses samples of the message in several formats and takes the best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "compression/format.h"

namespace dlcp::compression {

// How many bytes the packets of the protocol hold.
struct PacketSizes {
  std::uint32_t plain = 0;  // of a message, in a full packet without compression
  std::size_t coded = 0;    // of code, in a full packet
  std::size_t granule = 0;  // a packet begins at a multiple of it in its message
  std::size_t chunk_bytes_max = 0;
};

// How a message is sent.
struct MessageCoding {
  // Bytes of the message per chunk, before compression. 0: the message is not compressed, and its
  // chunks have the payload size that the handshake fixed.
  std::uint32_t chunk_bytes = 0;
  Format format = Format::kBfloat16;  // meaningless if not compressed

  bool used() const { return chunk_bytes != 0; }
};

class Coder {
 public:
  // Decides how `message`, the next one of the stream, is sent.
  MessageCoding choose(std::span<const std::byte> message, const PacketSizes& packet);
  // For the last message that was sampled: its number of packets without compression, divided by
  // the estimated number with compression. Above 1, compression saves packets.
  double ratio() const { return ratio_; }

 private:
  // Sampling costs time. After a sampled message that was not worth compressing, the next messages
  // are sent uncompressed without sampling: 1 message at first, then 2, 4 and so on after each
  // further such message, at most this many. After a message that was compressed, the number is 1
  // again.
  static constexpr unsigned kPassMax = 64;
  // A format is found again after this many messages, because a job may send numbers of several
  // types over one connection, and a wrong type also saves a little. It is found at once after a
  // message whose ratio is lower than this part of the ratio before.
  static constexpr unsigned kFormatMessages = 8;
  static constexpr double kRatioFall = 0.9;

  MessageCoding code(std::span<const std::byte> message, const PacketSizes& packet);

  // Of the last message, if that was compressed and not all zero; the next one is tried with it
  // first.
  std::optional<Format> format_;
  unsigned format_age_ = 0;  // number of messages since the format was found
  double ratio_ = 1;
  unsigned pass_ = 0;       // number of messages still to be sent without sampling
  unsigned pass_next_ = 1;  // value for pass_ after the next message that is not worth compressing
};

}  // namespace dlcp::compression
