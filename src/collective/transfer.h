// What an exchange is asked for, and the messages that it makes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/element.h"
#include "util/shared_budget.h"

namespace dlcp::collective {

struct Call {
  std::span<const std::byte> input;
  std::span<std::byte> result;  // as long; may be the same memory
  // Bytes from here on are not data, whatever is in them; all of the call where that is not known.
  std::size_t real_bytes = 0;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  // Names the tensor that this is a part of, from one call to the next; its calls may lose in
  // common what the group's terms allow. 0: nothing may be lost, as where real_bytes are not known.
  std::uint64_t tensor = 0;
};

// Leave to lose parts of one contribution; both ends need it.
struct Leave {
  std::uint32_t budget_ppm = 0;  // of the tensor; 0: none
  std::uint32_t ranks = 0;
  DataType type = DataType::kFloat32;
  std::size_t call_bytes = 0;  // of data
  // At the owner: bytes that the contributions to it may lose together; lives until they are done.
  SharedBudget* pool = nullptr;
};

// One message of the exchange.
struct Transfer {
  enum class Lane : std::uint8_t { kContributions, kResults };
  static constexpr std::uint32_t kNoBlock = ~0u;  // what ranks tell hubs (hub_call.h)

  std::uint32_t peer = 0;
  Lane lane = Lane::kContributions;
  bool sends = false;
  std::uint32_t block = 0;
  std::uint64_t call = 0;       // nothing at a hub, of what ranks tell
  std::span<std::byte> memory;  // what is sent is only read
  Leave leave = {};             // contributions only
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
