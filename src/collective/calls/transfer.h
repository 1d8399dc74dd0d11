// A call of an exchange, and the messages that the exchange makes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collective/reduce/element.h"
#include "util/shared_budget.h"

namespace dlcp::collective {

struct Call {
  std::span<const std::byte> input;
  std::span<std::byte> result;  // as long as `input`; may be the same memory
  // Number of leading bytes that are data; the whole call if unknown.
  std::size_t real_bytes = 0;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  // Identifies the tensor that the call is a part of. The calls of one tensor share the loss that
  // the group's terms allow. 0: nothing may be lost, for example because real_bytes is unknown.
  std::uint64_t tensor = 0;
};

// Permission to lose parts of one contribution; both ends need it.
struct Leave {
  std::uint32_t budget_ppm = 0;  // of the tensor; 0: none
  std::uint32_t ranks = 0;
  DataType type = DataType::kFloat32;
  std::size_t call_bytes = 0;  // of data
  // At the owner: bytes that the contributions to it may lose together. It exists until they are
  // done.
  SharedBudget* pool = nullptr;
};

// One message of the exchange.
struct Transfer {
  enum class Lane : std::uint8_t { kContributions, kResults };
  static constexpr std::uint32_t kNoBlock = ~0u;  // descriptions for hubs (hub_call.h)

  std::uint32_t peer = 0;
  Lane lane = Lane::kContributions;
  bool sends = false;
  std::uint32_t block = 0;
  std::uint64_t call = 0;       // unused on a hub for descriptions from ranks
  std::span<std::byte> memory;  // only read if sent
  Leave leave = {};             // contributions only
};

// The connections of the group.
class Mesh {
 public:
  // False if the connection accepts no more at present. Transfers with the same peer, lane and
  // direction are posted in order.
  virtual bool post(const Transfer& transfer) = 0;

 protected:
  ~Mesh() = default;
};

}  // namespace dlcp::collective
