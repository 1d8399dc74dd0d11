// Runs the exchanges of a group of ranks over their connections. Each call that starts or tests an
// operation drives the group one bounded step. Acknowledgements and retransmissions do not depend
// on such calls: the engines' helper threads handle them. Thread-safe; calls are serialised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "collective/calls/all_reduce.h"
#include "engine/group/block_tally.h"
#include "engine/group/group_links.h"
#include "engine/group/send_order.h"
#include "util/result.h"

namespace dlcp::engine {

bool uses(const collective::Call& call, const Memory& registered);
Error memory_lost();  // the error of an unfinished call whose memory was deregistered
Error aborted();      // ... whose group was closed

class Group final : collective::Mesh {
 public:
  using MakeAlgorithm =
      std::function<std::unique_ptr<collective::AllReduce>(std::span<std::byte> staging)>;

  // Memory for the messages of other ranks; its pages are touched only when needed. It is allocated
  // before the set-up, because a rank whose allocation fails after it would fail alone.
  struct Staging {
    // Throws std::bad_alloc. `kept_at_hubs`: each hub has this much, and this rank has none.
    explicit Staging(std::size_t size, bool kept_at_hubs = false);

    std::size_t bytes;
    bool at_hubs;
    std::unique_ptr<std::byte[]> memory;
  };
  struct Gate {
    // True if a transfer may proceed now; the group asks again later about the others.
    std::function<bool(const collective::Transfer&)> admits;
    // A transfer has proceeded; a connection may refuse an admitted transfer until later.
    std::function<void(const collective::Transfer&)> posted;
  };

  // Takes ownership of the connections in `links`.
  Group(GroupLinks links, const MakeAlgorithm& make, Staging staging);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // All ranks start the same calls in the same order. nullopt: try again later. Fails if the group
  // has failed, or if the call is too large for the staging.
  Result<std::optional<std::uint64_t>> start(const collective::Call& call);
  // True once the call's result is complete and the caller may reuse its memory. Fails if the group
  // has failed.
  Result<bool> finished(std::uint64_t call);

  // The counterpart of start() and finished() on a hub: drives a bounded step and returns true if
  // there was progress. Fails if the group has failed.
  Result<bool> serve(const Gate& gate);
  // True if nothing is in progress that other ranks wait for.
  bool idle();
  // Why the group has failed, once, unless an engine has logged it.
  std::optional<Error> take_unlogged_failure();
  // Fails the group for this reason and resets its connections.
  void fail(const Error& why);

  void register_memory(const Memory& registered);
  // After it returns, nothing accesses the memory. If a call still used it, the group has failed.
  void release_memory(const Memory& registered);
  std::shared_ptr<const BlockTally> blocks() const { return blocks_; }
  // Waits for a bounded time until other ranks have received the results of this one. True if work
  // was unfinished or the group had failed.
  bool close();

 private:
  using Lane = collective::Transfer::Lane;
  struct Posted {
    Request* request = nullptr;  // null: not sent, because the peer has left
    collective::Transfer transfer;
  };
  struct Started {
    std::uint64_t number = 0;
    collective::Call call;
  };
  struct Line {  // one connection and its outstanding transfers
    GroupLink link;
    std::deque<Posted> posted;
  };

  bool post(const collective::Transfer& transfer) override;
  void drive();
  void count_callers(int more);
  void harvest(Line& line);
  void drain();
  void give_up(const Error& why);
  std::optional<Error> failure();

  std::mutex mutex_;
  const Staging staging_;
  const std::unique_ptr<collective::AllReduce> exchange_;
  const GroupLinks links_;
  std::vector<Line> lines_;                     // numbered by the links' index()
  std::vector<SendOrder<const Line*>> orders_;  // numbered by the links' way()
  std::vector<std::shared_ptr<Engine>> engines_;
  const std::shared_ptr<BlockTally> blocks_ = std::make_shared<BlockTally>();
  Gate gate_;
  std::vector<Started> calls_;  // that a caller waits for
  std::uint64_t moved_ = 0;     // messages and blocks completed
  std::optional<Error> failed_;
  bool is_logged_ = false;  // the failure
  bool leaves_ = false, closed_ = false;
};

}  // namespace dlcp::engine
