// All-reduce by direct exchange, as one rank of a group runs it, without clock, thread or system
// call. A call is divided into blocks (layout.h). Every rank sends its part of a block to the
// block's owner; the owner reduces in rank order and sends the result to all ranks. This takes two
// steps for any number of ranks, where a ring takes 2 (N - 1). All ranks get identical bits,
// whatever the order in which contributions arrive.
//
// If the terms have hubs, the hubs own all blocks and ranks own none (hub_exchange.h).
//
// If the terms allow loss, contributions may lose parts. The owner records which (loss_counts.h),
// and its result reaches all ranks exactly.
//
// The scheme is that of parameter servers whose shards are the workers themselves; see also
// PS-Lite, SwitchML and OmniReduce. There is no deadlock: a result never waits for the staging of a
// later call, and all ranks start calls in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/calls/all_reduce.h"
#include "collective/calls/running_call.h"
#include "collective/calls/staging.h"
#include "collective/calls/transfer_queues.h"
#include "collective/exchange/layout.h"

namespace dlcp::collective {

class Exchange final : public AllReduce {
 public:
  // `staging` holds the contributions of other ranks and must outlive this object.
  Exchange(const Terms& terms, std::span<std::byte> staging);

  // Upper bound of the staging bytes that a call of `call_bytes` uses.
  static std::size_t staging_bytes(const Terms& terms, std::size_t call_bytes);

  // The bytes that an owner needs; if there are hubs, the bytes that each hub needs.
  std::size_t staging_needed(const Call& call) const override {
    return staging_bytes(terms_, call.input.size());
  }
  std::optional<std::uint64_t> start(const Call& call) override;
  // Starts a call on a hub, which has no input or result memory in it. Numbers increase, with gaps,
  // since not every call has blocks of every hub. False if the staging is full at present.
  bool start_for(std::uint64_t number, const Call& call, std::size_t bytes);
  void leave() override;
  bool finished(std::uint64_t call) const override;
  void post_to(Mesh& mesh) override;
  using AllReduce::on_done;
  void on_done(const Transfer& transfer, std::size_t bytes,
               std::span<const ByteRange> lost) override;
  bool work() override;
  bool busy() const override;
  bool idle() const override { return calls_.empty() && queues_.empty(); }
  Blocks blocks() const override { return blocks_; }
  const std::string& disagreement() const override { return disagreement_; }

 private:
  std::uint32_t others() const { return terms_.contributions(); }
  // The ranks that contribute to this member's blocks and receive their results, in order of
  // `turn`. A rank begins with the next rank; each hub begins with a different rank.
  std::uint32_t other(std::uint32_t turn) const {
    const std::uint32_t first = terms_.hubs > 0 ? terms_.rank : terms_.rank + 1;
    return (first + turn) % terms_.ranks;
  }
  // Number of owners that this rank contributes to.
  std::uint32_t other_owners() const { return terms_.hubs > 0 ? terms_.hubs : terms_.ranks - 1; }
  std::uint32_t other_owner(std::uint32_t turn) const {
    return terms_.hubs > 0 ? terms_.ranks + (terms_.rank + turn) % terms_.hubs : other(turn);
  }
  // The memory of another rank's contribution.
  std::span<std::byte> slot(const OwnedBlock& owned, std::uint32_t rank) const;
  std::deque<RunningCall>::iterator at_or_after(std::uint64_t call);
  RunningCall& running(std::uint64_t call) { return *at_or_after(call); }

  std::shared_ptr<SharedBudget> pool_for(const RunningCall& running);
  Leave leave_for(const RunningCall& running) const;
  void expect(RunningCall& call);
  void announce_to_hubs(RunningCall& call);
  void tell(std::uint32_t hub, RunningCall& call);
  void contribute(RunningCall& call);
  void take_contribution(RunningCall& running, const Transfer& transfer, std::size_t bytes,
                         std::span<const ByteRange> lost);
  void take_result(RunningCall& running, const Transfer& transfer, std::size_t bytes);
  void reduce_block(RunningCall& call, OwnedBlock& owned);
  void retire();

  const Terms terms_;
  Staging staging_;
  std::deque<RunningCall> calls_;  // by number
  std::uint64_t next_ = 0;         // number of the next call
  std::uint64_t reduces_ = 0;      // the call that is reduced next; results keep this order
  TransferQueues queues_;
  std::vector<const std::byte*> inputs_;
  std::uint64_t tensor_ = 0;        // of the newest call
  std::uint64_t tensor_began_ = 0;  // the first call of that tensor
  std::shared_ptr<SharedBudget> pool_;
  Blocks blocks_;
  std::string disagreement_;
};

}  // namespace dlcp::collective
