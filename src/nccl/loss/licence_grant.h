// Decides for each isend and irecv whether it may lose. Everything must hold, else it is exact: a
// budget; an operation that NCCL itself names; ReduceScatter, or the reduce-scatter half of a ring
// AllReduce; protocol Simple; a floating-point type. Both ends decide alone, from what their own
// NCCL says; a message is licensed only if both did.
#pragma once

#include <cstdint>
#include <optional>

#include "core/bounded_loss/licence.h"
#include "nccl/event_table.h"
#include "nccl/loss/loss_terms.h"
#include "nccl/net_attributes.h"

namespace dlcp::nccl {

// Why a message is exact. The first ones are no news: most traffic is so by its nature.
enum class Exact : std::uint8_t {
  kNot,          // it is licensed
  kNoBudget,     // nobody asked
  kFunction,     // not a reduction to partial sums
  kFinalValues,  // the all-gather half
  kOutsideNccl,  // no phandle: NCCL's bootstrap
  // From here on the user may want to know.
  kNoProfiler,     // NCCL has not taken our profiler plugin, so nobody says what a transfer is
  kUnknown,        // it has, but does not know this one
  kSplit,          // of a communicator that only shares a licensed one's connections
  kContradiction,  // setNetAttr and the profiler disagree
  kAlgorithm,
  kProtocol,
  kType,
  kSteps,  // the number of messages is not a ring's as we know it
};
constexpr bool worth_saying(Exact why) {
  return why >= Exact::kNoProfiler;
}
const char* words_for(Exact why);

struct Ruling {
  Exact exact = Exact::kNoBudget;
  core::Licence licence;  // all but `collective`
};

// `attributes`: what setNetAttr says, where the interface has it.
Ruling judge(const LossTerms& terms, const OpContext& context,
             const std::optional<TransferAttributes>& attributes);
// Whether a chunk of the operation is two messages, as judge takes it to be: what its receives are
// posted with, and what NCCL says of the chunk, must be the known shares of NCCL's buffer. Another
// cut would make final values look like partial sums, so a new NCCL is not simply believed.
bool cut_as_known(const OpContext& context, std::size_t posted_bytes, std::size_t buffer_bytes);
// What the attributes alone rule out, before anybody is asked; kNot: nothing.
Exact ruled_out(const TransferAttributes& attributes);
// Where NCCL has not taken our profiler: setNetAttr names the function, the user has stated the
// type, and every message of a ReduceScatter is a partial sum. Of an AllReduce nobody tells which
// half it is in. `ranks` of the communicator; 0: not known.
Ruling judge_by_attributes(const LossTerms& terms, const TransferAttributes& attributes,
                           std::uint32_t ranks);

}  // namespace dlcp::nccl
