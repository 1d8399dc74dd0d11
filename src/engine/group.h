// A group of ranks at work: runs their exchanges over their connections. Whoever starts a call or
// asks for one drives the group a bounded step further; acknowledgements and retransmissions need
// nobody, as the engines' helper threads see to them. Any thread; calls take turns.
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

#include "collective/all_reduce.h"
#include "engine/block_tally.h"
#include "engine/group_links.h"
#include "engine/send_order.h"
#include "util/result.h"

namespace dlcp::engine {

class Group final : collective::Mesh {
 public:
  using MakeAlgorithm =
      std::function<std::unique_ptr<collective::AllReduce>(std::span<std::byte> staging)>;

  // Memory for what other ranks send; touched only as far as it is needed.
  struct Staging {
    std::size_t bytes = 0;
    bool at_hubs = false;  // each of the group's hubs has so much of it; there is none here
  };
  // A transfer may go on now; what may not is asked for again.
  using Gate = std::function<bool(const collective::Transfer&)>;

  // Owns the links' connections.
  Group(GroupLinks links, const MakeAlgorithm& make, const Staging& staging);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // All ranks start the same calls in the same order. nullopt: not now, try again. Fails once the
  // group has, or if the call is too large for the staging.
  Result<std::optional<std::uint64_t>> start(const collective::Call& call);
  // Whether the call's result is whole and its memory the caller's again. Fails once the group has.
  Result<bool> finished(std::uint64_t call);

  // What a hub does in place of start() and finished(): a bounded step. Whether anything moved;
  // fails once the group has. `gate`: empty for none.
  Result<bool> serve(const Gate& gate);
  // Nothing is under way that others wait for.
  bool idle();
  // As if it had failed for this reason; the others' connections are reset.
  void fail(const Error& why);

  void register_memory(const Memory& registered);
  // After it returns nobody touches the memory; if a call still used it, the group is dead.
  void release_memory(const Memory& registered);
  std::shared_ptr<const BlockTally> blocks() const { return blocks_; }
  // Waits, a bounded time, for other ranks to have what this one has reduced for them. True if
  // work was unfinished, or the group had failed.
  bool close();

 private:
  using Lane = collective::Transfer::Lane;
  struct Posted {
    Request* request = nullptr;
    collective::Transfer transfer;
  };
  struct Line {  // one connection, and what is under way on it
    GroupLink link;
    std::deque<Posted> posted;
  };

  bool post(const collective::Transfer& transfer) override;
  void drive();
  void count_callers(int more);
  void harvest(Line& line);
  void drain();
  std::optional<Error> failure();

  std::mutex mutex_;
  const Staging staging_bytes_;
  std::unique_ptr<std::byte[]> staging_;
  const std::unique_ptr<collective::AllReduce> exchange_;
  const GroupLinks links_;
  std::vector<Line> lines_;                     // as the links' index() numbers them
  std::vector<SendOrder<const Line*>> orders_;  // by way
  std::vector<std::shared_ptr<Engine>> engines_;
  const std::shared_ptr<BlockTally> blocks_ = std::make_shared<BlockTally>();
  Gate gate_;
  int waiting_ = 0;          // calls that somebody polls for
  std::uint64_t moved_ = 0;  // messages and blocks
  std::optional<Error> failed_;
  bool closed_ = false;
};

}  // namespace dlcp::engine
