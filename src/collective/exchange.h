// All-reduce by direct exchange, as one rank of a group sees it, without clock, thread or system
// call. A call is divided into blocks (layout.h); every rank sends its part of a block to the
// block's owner, the owner reduces in rank order and sends the result to all. Two steps, whatever
// the number of ranks, where a ring takes 2 (N - 1); and all ranks have the same bits, whichever
// contribution came first.
//
// Where the terms allow it contributions may lose parts: the owner knows which (loss_counts.h), and
// what it makes of the others all ranks get exactly.
//
// The idea is that of parameter servers whose shards are the workers themselves; see also PS-Lite,
// SwitchML and Omnireduce. A result never waits for the staging of a later call, and all ranks
// start calls in the same order, so nobody waits in a circle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/all_reduce.h"
#include "collective/layout.h"
#include "collective/loss_counts.h"
#include "collective/staging.h"
#include "collective/transfer_queues.h"

namespace dlcp::collective {

class Exchange final : public AllReduce {
 public:
  // `staging`: for what other ranks send; outlives this.
  Exchange(const Terms& terms, std::span<std::byte> staging);

  // What a call of that size takes of the staging, at most.
  static std::size_t staging_bytes(const Terms& terms, std::size_t call_bytes);

  std::size_t staging_needed(const Call& call) const override {
    return staging_bytes(terms_, call.input.size());
  }
  std::optional<std::uint64_t> start(const Call& call) override;
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
  // A block that this rank reduces.
  struct Owned {
    std::uint32_t block = 0;
    std::uint32_t awaited = 0;   // contributions
    std::size_t bytes = 0;       // of real data, as far as the contributions tell
    std::span<std::byte> slots;  // of the other ranks, one after another
    LossCounts lost;
  };
  struct Running {
    Call call;
    Layout layout;
    std::vector<Owned> owned;
    std::shared_ptr<SharedBudget> pool = nullptr;  // exact
    std::size_t reduced = 0;                       // of them
    std::uint32_t results_awaited = 0;
    std::uint32_t contributions_out = 0;  // not delivered
    std::uint32_t results_unposted = 0;
    std::uint32_t results_out = 0;  // not delivered

    bool finished() const {
      return reduced == owned.size() && results_awaited == 0 && contributions_out == 0 &&
             results_unposted == 0;
    }
    bool knows_length() const { return call.real_bytes < call.input.size(); }
  };

  std::uint32_t others() const { return terms_.ranks - 1; }
  std::uint32_t other(std::uint32_t turn) const {  // 0-based, from the rank behind this one
    return (terms_.rank + 1 + turn) % terms_.ranks;
  }
  // Where another rank's contribution lies.
  std::span<std::byte> slot(const Owned& owned, std::uint32_t rank) const;
  Running& running(std::uint64_t call) { return calls_[call - first_call_]; }
  std::uint64_t next_number() const { return first_call_ + calls_.size(); }

  std::shared_ptr<SharedBudget> pool_for(const Running& running);
  Leave leave_for(const Running& running) const;
  void expect(std::uint64_t number);
  void contribute(std::uint64_t number);
  void take_contribution(Running& running, const Transfer& transfer, std::size_t bytes,
                         std::span<const ByteRange> lost);
  void take_result(Running& running, const Transfer& transfer, std::size_t bytes);
  void reduce_block(std::uint64_t number, Owned& owned);
  void retire();

  const Terms terms_;
  Staging staging_;
  std::deque<Running> calls_;  // the oldest has number first_call_
  std::uint64_t first_call_ = 0;
  std::uint64_t reduces_ = 0;  // the call whose blocks are being reduced: results leave in order
  TransferQueues queues_;
  std::vector<const std::byte*> inputs_;
  std::uint64_t tensor_ = 0;  // of the newest call
  std::shared_ptr<SharedBudget> pool_;
  Blocks blocks_;
  std::string disagreement_;
};

}  // namespace dlcp::collective
