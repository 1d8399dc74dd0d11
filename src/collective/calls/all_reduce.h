// Interface of an all-reduce algorithm as one rank of a group runs it. It uses no clock, thread or
// system call.
//
//   in:   start, on_done, work
//   out:  post_to: messages for the group's connections. Any two ranks have two connections in each
//         direction; each connection delivers messages in the order in which they were posted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "collective/calls/transfer.h"
#include "util/memory/byte_range.h"

namespace dlcp::collective {

class AllReduce {
 public:
  // Blocks that this rank has reduced so far.
  struct Blocks {
    std::uint64_t whole = 0;    // blocks with all contributions
    std::uint64_t partial = 0;  // blocks that lost parts of contributions, as the licence allows
  };

  virtual ~AllReduce() = default;

  // Upper bound of the staging bytes that a call uses.
  virtual std::size_t staging_needed(const Call& call) const = 0;
  // All ranks start the same calls in the same order. Returns nullopt if the staging is full at
  // present.
  virtual std::optional<std::uint64_t> start(const Call& call) = 0;
  // Number of peers that the messages of one lane may be sent to at the same time. It is 1 unless
  // the algorithm, such as a plan, determines the order of sending itself.
  virtual std::size_t peers_at_once() const { return 1; }
  // No further call will be started. Informs members that would otherwise wait for one.
  virtual void leave() {}
  // True once the result is complete and the caller may reuse the call's memory.
  virtual bool finished(std::uint64_t call) const = 0;

  // Offers all pending messages to `mesh`, in order.
  virtual void post_to(Mesh& mesh) = 0;
  // A posted transfer is complete: a message of `bytes` was delivered or received. A received
  // message has zeros in its `lost` ranges.
  virtual void on_done(const Transfer& transfer, std::size_t bytes,
                       std::span<const ByteRange> lost) = 0;
  void on_done(const Transfer& transfer, std::size_t bytes) { on_done(transfer, bytes, {}); }
  // Reduces the next piece if all its contributions are present; false otherwise.
  virtual bool work() = 0;
  // True if messages are pending or a started call is unfinished.
  virtual bool busy() const = 0;
  // True if no message is pending and no posted message is outstanding.
  virtual bool idle() const = 0;
  // The same, except for messages from others on which nothing depends after leave().
  virtual bool delivered() const { return idle(); }

  virtual Blocks blocks() const { return {}; }
  // Describes the error if ranks started different calls; no result of this group is valid then.
  // Empty if there is no error.
  virtual const std::string& disagreement() const = 0;
};

}  // namespace dlcp::collective
