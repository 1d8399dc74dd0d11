// The licence to lose data of one message (bounded loss): the properties of its collective that the
// layers above know, and the loss budget. Both ends make their own. A message without a licence at
// either end is exact.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gradient/magnitude.h"
#include "util/shared_budget.h"

namespace dlcp::core {

inline constexpr std::uint32_t kBudgetScale = 1'000'000;
// The largest budget. A licence with a larger one is invalid.
inline constexpr std::uint32_t kBudgetPpmMax = kBudgetScale / 4;

// How contributions reach the ranks that need the result.
enum class LossShape : std::uint8_t {
  kRing,    // partial sums pass from rank to rank: a late loss concerns many ranks' contributions
  kDirect,  // each contribution goes to the owner of its block, which adds all of them
};

struct Licence {
  // Identifies one run of one collective on one channel; ascends on a connection. 0: no licence.
  std::uint64_t collective = 0;
  // Bytes of the collective's result on each rank, in this channel. 0: not known; then every
  // message counts as a collective of its own with its own length. Direct exchange: of the whole
  // call.
  std::uint64_t result_bytes = 0;
  std::uint32_t ranks = 0;       // of the operation's own communicator
  std::uint32_t hops = 0;        // of the ring that cross the network, per lap
  std::uint32_t stage = 0;       // 0-based: the message contains the sums of stage + 1 ranks
  std::uint32_t budget_ppm = 0;  // P, the lost share of the result, end to end, in millionths
  gradient::ElementType element = gradient::ElementType::kOther;  // only some types can be scored
  bool urgent = false;  // of a layer that the next forward pass needs first
  // Also stated for messages that may lose nothing: it decides from which size they are compressed.
  LossShape shape = LossShape::kRing;
  // Direct exchange, receiver only: how many bytes of contributions the owner's part of the result
  // may still lose, all contributions together; outlives the receive. Null at the sender.
  SharedBudget* pool = nullptr;

  // Number of contributions that each lost byte of this message contains.
  std::uint64_t cost() const { return std::uint64_t{stage} + 1; }

  // The share of its packets that a connection may lose in a ring all-reduce: with equal losses in
  // all ranks - 1 stages this uses exactly what a hop may lose (loss_ledger.h). If stages are not
  // known, each counts as the last. In direct exchange: the share if all contributions that cross
  // the network lose equally.
  double hop_share() const {
    const double share = static_cast<double>(budget_ppm) / kBudgetScale;
    const double stages = result_bytes == 0 ? 1 : 2;
    const double across = static_cast<double>(ranks) / (ranks - 1);
    const double full =
        shape == LossShape::kDirect ? share * across : stages * share * across / hops;
    return full < 0.25 ? full : 0.25;
  }

  // Whether the budget of a message of `bytes`, or of its collective, is at least one packet. If it
  // is less, every loss would be repaired, and drops by switches would only cost time.
  bool bears_a_packet(std::size_t bytes, std::size_t packet_bytes) const {
    const auto of = static_cast<double>(result_bytes > 0 ? result_bytes : bytes);
    return hop_share() * of >= static_cast<double>(packet_bytes);
  }

  // Whether a message of `bytes` may lose data under this licence. Stages from ranks - 1 on carry
  // final values, whose loss would make the ranks differ. Direct exchange divides a call into as
  // many messages as there are ranks; there the call must have the minimum length.
  bool covers(std::size_t bytes, std::size_t bytes_min) const {
    return collective != 0 && budget_ppm > 0 && budget_ppm <= kBudgetPpmMax && ranks >= 2 &&
           stage + 1 < ranks && hops >= 1 && hops <= ranks &&
           gradient::element_bytes(element) > 0 && bytes % gradient::element_bytes(element) == 0 &&
           bytes > 0 && (shape == LossShape::kDirect ? result_bytes : bytes) >= bytes_min;
  }
};

}  // namespace dlcp::core
