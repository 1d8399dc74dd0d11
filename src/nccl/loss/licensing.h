// Grants the licences of one connection: asks NCCL what each isend or irecv belongs to, and makes
// its licence. Without a budget, it costs one comparison per message. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bounded_loss/licence.h"
#include "nccl/context/context.h"
#include "nccl/loss/licence_grant.h"
#include "nccl/loss/loss_terms.h"
#include "nccl/net/handle.h"
#include "nccl/profiler/profiler.h"

namespace dlcp::nccl {

class Licensing {
 public:
  // `communicator_class` is that of the connection's communicator; kUndefined if it has none or
  // NCCL did not report it.
  Licensing(Context& context, int communicator_class);

  // The licence of the message that isend or irecv is about to post, of at most `bytes`. An empty
  // licence: exact.
  core::Licence next_send(void* phandle, std::size_t bytes) { return next(phandle, bytes, true); }
  core::Licence next_receive(void* phandle, std::size_t bytes) {
    return next(phandle, bytes, false);
  }

 private:
  core::Licence next(void* phandle, std::size_t bytes, bool sends);
  std::optional<OpContext> identify(void* phandle);
  Ruling decide(void* phandle, std::size_t bytes, bool sends);
  Ruling decide_by_attributes(const std::optional<TransferAttributes>& attributes);
  void explain(Exact why);

  Context* context_;
  std::uint32_t process_budget_ppm_ = 0;
  std::size_t bytes_min_ = 0;
  std::size_t nccl_buffer_bytes_;
  // The communicator that the connection was made for; others share it (splitShare). Before version
  // 11 it is that of the first message whose communicator had begun when the connection was made.
  profiler::Owner owner_;
  LossTerms terms_;
  std::uint64_t operation_ = 0;    // of the last message
  std::uint64_t collectives_ = 0;  // runs of collectives so far; NCCL's own numbers repeat
  std::uint32_t ranks_ = 0;        // from the tuner; 0: not requested yet, or unknown
};

// A communicator (before NCCL 2.28: the process) begins: logs what it may lose.
void announce_terms(Context& context, int communicator_class);
// A communicator ends.
void forget_terms(Context& context);

// The settings that must be the same on all ranks of this context.
AgreedTerms agreed_terms(const Context& context);
// The budget of the communicator with that ID, if its context is open. Otherwise, and for 0, the
// budget of the process.
std::uint32_t budget_of(std::uint64_t comm_id, std::uint32_t process_budget_ppm);

}  // namespace dlcp::nccl
