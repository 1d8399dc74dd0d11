// How one rank of a group reduces calls with the others, whatever the algorithm; without clock,
// thread or system call.
//
//   in:   start, on_done, work
//   out:  post_to: messages for the connections of the group, two in each direction between any two
//         ranks; each carries messages in the order posted
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "collective/transfer.h"
#include "util/byte_range.h"

namespace dlcp::collective {

class AllReduce {
 public:
  // Blocks that this rank has reduced so far.
  struct Blocks {
    std::uint64_t whole = 0;    // of all contributions
    std::uint64_t partial = 0;  // parts of contributions were lost, with leave
  };

  virtual ~AllReduce() = default;

  // Bytes of the staging that a call takes, at most.
  virtual std::size_t staging_needed(const Call& call) const = 0;
  // All ranks start the same calls in the same order. nullopt: not now, as the staging is full.
  virtual std::optional<std::uint64_t> start(const Call& call) = 0;
  // Peers that messages of a lane may be sent to at a time: one after the other, unless the order
  // of sending is of another's making (a plan's).
  virtual std::size_t peers_at_once() const { return 1; }
  // No call will be started any more; members that would wait for one are to be told.
  virtual void leave() {}
  // True once the result is whole and the call's memory is the caller's again.
  virtual bool finished(std::uint64_t call) const = 0;

  // Offers everything that is to be posted, in order.
  virtual void post_to(Mesh& mesh) = 0;
  // A transfer that was posted is done: a message of `bytes` was delivered, or has come; then with
  // zeros in the place of what was lost of it.
  virtual void on_done(const Transfer& transfer, std::size_t bytes,
                       std::span<const ByteRange> lost) = 0;
  void on_done(const Transfer& transfer, std::size_t bytes) { on_done(transfer, bytes, {}); }
  // Reduces the next piece if all that belongs to it is there; false if not.
  virtual bool work() = 0;
  // Something waits to be posted, or a started call is not finished.
  virtual bool busy() const = 0;
  // Nothing is to be posted, and nothing that was posted is under way.
  virtual bool idle() const = 0;

  virtual Blocks blocks() const { return {}; }
  // Ranks do not mean the same call: nothing of this group can be believed any more. Empty: all is
  // well.
  virtual const std::string& disagreement() const = 0;
};

}  // namespace dlcp::collective
