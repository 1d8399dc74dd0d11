// What an exchange is asked for, and the messages that it makes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/element.h"

namespace dlcp::collective {

struct Call {
  std::span<const std::byte> input;
  std::span<std::byte> result;  // as long; may be the same memory
  // Bytes from here on are not data, whatever is in them; all of the call where that is not known.
  std::size_t real_bytes = 0;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
};

// One message of the exchange.
struct Transfer {
  enum class Lane : std::uint8_t { kContributions, kResults };

  std::uint32_t peer = 0;
  Lane lane = Lane::kContributions;
  bool sends = false;
  std::uint32_t block = 0;
  std::uint64_t call = 0;
  std::span<std::byte> memory;  // what is sent is only read
};

// The connections of the group.
class Mesh {
 public:
  // False: the connection takes no more now. Of two transfers that have peer, lane and direction in
  // common the first is posted first.
  virtual bool post(const Transfer& transfer) = 0;

 protected:
  ~Mesh() = default;
};

}  // namespace dlcp::collective
