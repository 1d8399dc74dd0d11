// Decides for each isend and irecv whether it may lose data. It is exact unless all conditions
// hold: a budget; an operation that NCCL identifies; ReduceScatter, or the reduce-scatter half of a
// ring AllReduce; protocol Simple; a floating-point type. Both ends decide independently from the
// information of their own NCCL; a message is licensed only if both licensed it.
#pragma once

#include <cstdint>
#include <optional>

#include "core/bounded_loss/licence.h"
#include "nccl/loss/loss_terms.h"
#include "nccl/net/net_attributes.h"
#include "nccl/profiler/event_table.h"

namespace dlcp::nccl {

// Why a message is exact. The first reasons are normal: most traffic is exact by its nature.
enum class Exact : std::uint8_t {
  kNot,          // it is licensed
  kNoBudget,     // no budget was set
  kFunction,     // does not produce partial sums
  kFinalValues,  // the all-gather half
  kOutsideNccl,  // no phandle: NCCL's bootstrap
  // The following reasons may be of interest to the user.
  kNoProfiler,     // NCCL has not loaded DLCP's profiler plugin, which identifies transfers
  kUnknown,        // the profiler does not know this transfer
  kSplit,          // a communicator that shares a licensed one's connections
  kContradiction,  // setNetAttr and the profiler disagree
  kAlgorithm,
  kProtocol,
  kType,
  kSteps,  // the number of messages is not that of a known ring
};
constexpr bool worth_saying(Exact why) {
  return why >= Exact::kNoProfiler;
}
const char* words_for(Exact why);

struct Ruling {
  Exact exact = Exact::kNoBudget;
  core::Licence licence;  // everything except `collective`
};

// `attributes`: from setNetAttr, if the interface has it.
Ruling judge(const LossTerms& terms, const OpContext& context,
             const std::optional<TransferAttributes>& attributes);
// True if a chunk of the operation consists of two messages, as judge() assumes: the size of posted
// receives and NCCL's chunk size must be the known shares of NCCL's buffer. With another division,
// final values would look like partial sums, so every new version of NCCL is checked.
bool cut_as_known(const OpContext& context, std::size_t posted_bytes, std::size_t buffer_bytes);
// The reason that follows from the attributes alone, before the profiler is asked; kNot: none.
Exact ruled_out(const TransferAttributes& attributes);
// For use if NCCL has not loaded DLCP's profiler: setNetAttr gives the function, the user has
// stated the type, and every message of a ReduceScatter is a partial sum. For an AllReduce, the
// half is unknown. `ranks` is the size of the communicator; 0: unknown.
Ruling judge_by_attributes(const LossTerms& terms, const TransferAttributes& attributes,
                           std::uint32_t ranks);

}  // namespace dlcp::nccl
