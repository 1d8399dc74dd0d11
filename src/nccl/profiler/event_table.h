// The profiler events of one communicator: collectives and their operations on channels. Handles
// are numbers that are never reused, so an old handle, or another communicator's, finds nothing. A
// step needs no entry, because its number is part of the handle.
//
// Two rings store the entries: if more are outstanding than fit, the oldest are overwritten and
// their messages are exact. An overwritten all-reduce of direct exchange ends the matching of calls
// (ReductionCalls), because the calls of the following ones would be taken for its own. NCCL starts
// collectives on the application's threads, and all other events on its progress threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "nccl/abi/profiler/profiler.h"
#include "nccl/abi/types.h"
#include "nccl/collnet/reduction_calls.h"
#include "nccl/loss/layer_order.h"
#include "nccl/profiler/collective.h"
#include "util/time.h"

namespace dlcp::nccl {

// The operation that one isend or irecv belongs to.
struct OpContext {
  // A number for one collective on one channel in one direction; never reused. 0 for a send and
  // receive.
  std::uint64_t operation = 0;
  Collective collective;
  std::uint64_t comm_id = 0;    // NCCL's ID of the communicator
  std::uint32_t ranks = 0;      // in the communicator
  std::uint32_t steps = 0;      // messages of the operation
  std::uint32_t step = 0;       // this message, 0-based
  std::size_t chunk_bytes = 0;  // NCCL's chunk times the steps of a message
  bool sends = false;
  bool urgent = false;                  // the result is needed first in the next forward pass
  int communicator_class = kUndefined;  // of the communicator, if a connection has reported it
  bool is_owner = false;                // the connection was made for this communicator
};

class EventTable {
 public:
  using EventHandle = std::uint64_t;  // 0: none

  EventTable(std::uint64_t comm_id, std::uint32_t ranks);

  // The handle of a send and receive, which needs no entry either.
  static EventHandle point_to_point();
  EventHandle start_collective(Time now, const Collective& collective);
  // Its steps and chunk size must be positive.
  EventHandle start_operation(EventHandle collective, const ProfiledProxyOp& operation);
  // True for an operation of CollNet, whose peer is the number after the last rank.
  bool goes_to_network(const ProfiledProxyOp& operation) const {
    return static_cast<std::uint32_t>(operation.peer) == ranks_;
  }
  static EventHandle step_of(EventHandle operation, std::uint32_t step);
  std::optional<OpContext> find(EventHandle step);

  std::uint64_t comm_id() const { return comm_id_; }
  // Tables are numbered in the order in which their communicators begin.
  std::uint64_t number() const { return number_; }
  static std::uint64_t next_number();
  std::uint32_t ranks() const { return ranks_; }
  // See ReductionCalls.
  std::optional<CallPart> next_call(std::size_t bytes, int type, Unmatched& why_not);
  void on_shared_connections();

  void set_communicator_class(int communicator_class) {
    communicator_class_.store(communicator_class);
  }

 private:
  struct StartedCollective {
    std::uint64_t number = 0;
    Collective collective;
    bool urgent = false;
  };
  struct Operation {
    std::uint64_t number = 0;
    StartedCollective of;
    std::uint32_t steps = 0;
    std::size_t chunk_bytes = 0;
    bool sends = false;
  };

  // An operation with the network as its peer; `of` is null if its collective is unknown.
  void note_reduction(const StartedCollective* of, const ProfiledProxyOp& operation);

  const std::uint64_t comm_id_;
  const std::uint32_t ranks_;
  const std::uint64_t number_;
  std::mutex mutex_;
  std::uint64_t collectives_started_;  // number of the newest one
  std::uint64_t operations_started_;
  std::vector<StartedCollective> collectives_;
  std::vector<Operation> operations_;
  LayerOrder order_;
  ReductionCalls reductions_;
  std::atomic<int> communicator_class_{kUndefined};
};

}  // namespace dlcp::nccl
