// What one connection may lose: asks NCCL what each isend or irecv belongs to, and makes its
// licence. Costs one comparison per message where nobody has a budget. Used by one thread at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bounded_loss/licence.h"
#include "nccl/context.h"
#include "nccl/handle.h"
#include "nccl/loss/licence_grant.h"
#include "nccl/loss/loss_terms.h"

namespace dlcp::nccl {

class Licensing {
 public:
  // `communicator_class` of the connection's communicator; kUndefined if it has none, or NCCL did
  // not say.
  Licensing(Context& context, int communicator_class);

  // For the message that isend, or irecv, is about to post, of `bytes` at most. No licence: exact.
  core::Licence next_send(void* phandle, std::size_t bytes) { return next(phandle, bytes, true); }
  core::Licence next_receive(void* phandle, std::size_t bytes) {
    return next(phandle, bytes, false);
  }

 private:
  core::Licence next(void* phandle, std::size_t bytes, bool sends);
  Ruling decide(void* phandle, std::size_t bytes, bool sends);
  Ruling decide_by_attributes(const std::optional<TransferAttributes>& attributes);
  void explain(Exact why);

  Context* context_;
  std::uint32_t process_budget_ppm_ = 0;
  std::size_t bytes_min_ = 0;
  std::size_t nccl_buffer_bytes_;
  int communicator_class_;
  LossTerms terms_;
  std::uint64_t operation_ = 0;    // of the last message
  std::uint64_t collectives_ = 0;  // runs of collectives so far; NCCL's own numbers come again
  std::uint32_t ranks_ = 0;        // as the tuner was told; 0: not asked, or not known
};

// A communicator (or, before NCCL 2.28, the process) begins: says in the log what it may lose.
// `can_tell`: whether this version of the interface carries what a licence needs.
void announce_terms(Context& context, int communicator_class, bool can_tell);
// A communicator ends.
void forget_terms(Context& context);

// What ranks of this context must have set alike.
AgreedTerms agreed_terms(const Context& context);
// Of the communicator with that id, if its context is open; else, and for 0, the process's.
std::uint32_t budget_of(std::uint64_t comm_id, std::uint32_t process_budget_ppm);

}  // namespace dlcp::nccl
