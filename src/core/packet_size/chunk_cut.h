// The chunk that is being sent: whole, or in pieces while packets are smaller than chunks
// (packet_size.h). All pieces take one path and follow each other, so that they can form one burst.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/coding/coded_piece.h"
#include "core/streams/send_message.h"
#include "wire/data/data_header.h"
#include "wire/packet.h"

namespace dlcp::core {

class ChunkCut {
 public:
  // Returns the object that the caller fills with the description of the chunk.
  SentChunk& begin(const ChunkRef& chunk, wire::PathIndex path) {
    chunk_ = chunk;
    path_ = path;
    at_ = 0;
    pending_ = true;
    return sent_;
  }
  bool pending() const { return pending_; }
  // The chunk has been acknowledged meanwhile: its memory must not be read any more.
  void drop() { pending_ = false; }

  const ChunkRef& chunk() const { return chunk_; }
  const SentChunk& sent() const { return sent_; }
  wire::PathIndex path() const { return path_; }

  struct Piece {
    std::span<const std::byte> payload;
    std::uint32_t offset = 0;  // within the message
    bool ends = true;          // it ends the chunk
    wire::Coding coding{};     // of a compressed message
  };
  // The next piece of the chunk, at most `payload_bytes` long. `memory`: that of the encoded bytes
  // of a compressed message.
  Piece next(std::uint32_t payload_bytes, wire::Buffer* memory) {
    const std::span rest(sent_.data + at_, sent_.bytes - at_);
    Piece piece{rest.first(std::min<std::size_t>(payload_bytes, rest.size())),
                sent_.offset + static_cast<std::uint32_t>(at_)};
    std::size_t plain_bytes = piece.payload.size();
    if (memory != nullptr) {
      const CodedPiece code = code_piece(sent_.coding.format, rest, payload_bytes, *memory);
      piece.payload = code.payload;
      piece.coding = {sent_.coding.chunk_bytes, static_cast<std::uint32_t>(code.plain_bytes),
                      static_cast<std::uint32_t>(code.coded_bytes)};
      plain_bytes = code.plain_bytes;
    }
    at_ += plain_bytes;
    pending_ = at_ < sent_.bytes;
    piece.ends = !pending_;
    return piece;
  }

 private:
  ChunkRef chunk_;
  SentChunk sent_;
  wire::PathIndex path_ = 0;
  std::size_t at_ = 0;  // bytes of the chunk sent so far
  bool pending_ = false;
};

}  // namespace dlcp::core
