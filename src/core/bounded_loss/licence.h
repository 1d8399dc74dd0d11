// The licence to lose of one message (bounded loss): what the layers above know of the collective
// that it belongs to, and what may be lost of that. Both ends make their own; a message without one
// at either end is exact.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gradient/magnitude.h"
#include "util/shared_budget.h"

namespace dlcp::core {

inline constexpr std::uint32_t kBudgetScale = 1'000'000;
// More than this share nobody can want to lose: a licence that says so is none.
inline constexpr std::uint32_t kBudgetPpmMax = kBudgetScale / 4;

// How contributions reach those that are to have the result.
enum class LossShape : std::uint8_t {
  kRing,    // partial sums pass from rank to rank: what is lost late takes many ranks' with it
  kDirect,  // each goes to the rank that owns its part of the result, and is summed there
};

struct Licence {
  // Names one run of one collective on one channel; grows from one to the next on a connection. 0:
  // no licence.
  std::uint64_t collective = 0;
  // That the collective leaves on each rank, of this channel. 0: not known; every message is then a
  // collective of its own, and its bytes are the result's. Direct: of the whole call.
  std::uint64_t result_bytes = 0;
  std::uint32_t ranks = 0;       // of the operation's own communicator
  std::uint32_t hops = 0;        // of the ring that cross the network, per lap
  std::uint32_t stage = 0;       // 0-based: the message holds the sums of stage + 1 ranks
  std::uint32_t budget_ppm = 0;  // P, the lost share of the result, end to end, in millionths
  gradient::ElementType element = gradient::ElementType::kOther;  // the types that can be scored
  bool urgent = false;  // of a layer that the next forward pass needs first
  LossShape shape = LossShape::kRing;
  // Direct: what the owner may still go without of the result that it makes, in bytes of all the
  // contributions to it together; outlives the receive. The sender has none: he cannot know.
  SharedBudget* pool = nullptr;

  // What every byte lost of this message takes away: contributions of so many ranks.
  std::uint64_t cost() const { return std::uint64_t{stage} + 1; }

  // The share of its packets that a connection may lose over a ring all-reduce: with losses alike
  // in all ranks - 1 stages, what a hop may take away (loss_ledger.h) is then spent. Where stages
  // are not known each counts as the last. In direct exchange: if all contributions that cross the
  // network lose alike.
  double hop_share() const {
    const double share = static_cast<double>(budget_ppm) / kBudgetScale;
    const double stages = result_bytes == 0 ? 1 : 2;
    const double across = static_cast<double>(ranks) / (ranks - 1);
    const double full =
        shape == LossShape::kDirect ? share * across : stages * share * across / hops;
    return full < 0.25 ? full : 0.25;
  }

  // Whether what may be lost, of a message of `bytes` or of its collective, is a packet at least.
  // Less cannot be lost: every loss would have to be repaired, and switches drop for nothing.
  bool bears_a_packet(std::size_t bytes, std::size_t packet_bytes) const {
    const auto of = static_cast<double>(result_bytes > 0 ? result_bytes : bytes);
    return hop_share() * of >= static_cast<double>(packet_bytes);
  }

  // Whether a message of `bytes` may lose anything under this licence. Stages from ranks - 1 on
  // carry final values: ranks would end up different. Direct exchange cuts calls into as many
  // messages as there are ranks, so that there the call is to be long enough.
  bool covers(std::size_t bytes, std::size_t bytes_min) const {
    return collective != 0 && budget_ppm > 0 && budget_ppm <= kBudgetPpmMax && ranks >= 2 &&
           stage + 1 < ranks && hops >= 1 && hops <= ranks &&
           gradient::element_bytes(element) > 0 && bytes % gradient::element_bytes(element) == 0 &&
           bytes > 0 && (shape == LossShape::kDirect ? result_bytes : bytes) >= bytes_min;
  }
};

}  // namespace dlcp::core
