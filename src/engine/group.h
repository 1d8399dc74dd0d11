// A group of ranks at work: runs their exchanges over their connections. Whoever starts a call or
// asks for one drives the group a bounded step further; acknowledgements and retransmissions need
// nobody, as the engines' helper threads see to them. Any thread; calls take turns.
#pragma once

#include <array>
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
#include "util/result.h"

namespace dlcp::engine {

class Group final : collective::Mesh {
 public:
  using MakeAlgorithm =
      std::function<std::unique_ptr<collective::AllReduce>(std::span<std::byte> staging)>;

  // Owns the links' connections. `staging_bytes`: memory for what other ranks send; touched only as
  // far as it is needed.
  Group(GroupLinks links, const MakeAlgorithm& make, std::size_t staging_bytes);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // All ranks start the same calls in the same order. nullopt: not now, try again. Fails once the
  // group has, or if the call is too large for the staging.
  Result<std::optional<std::uint64_t>> start(const collective::Call& call);
  // Whether the call's result is whole and its memory the caller's again. Fails once the group has.
  Result<bool> finished(std::uint64_t call);

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
  void harvest(Line& line);
  bool may_send(Lane lane, Line& line);
  void drain();
  std::optional<Error> failure();

  std::mutex mutex_;
  std::unique_ptr<std::byte[]> staging_;
  const std::size_t staging_bytes_;
  const std::unique_ptr<collective::AllReduce> exchange_;
  std::vector<Line> lines_;                    // as GroupLinks::index() numbers them
  std::array<std::vector<Line*>, 2> sending_;  // by lane: had something to send when last looked at
  std::vector<std::shared_ptr<Engine>> engines_;
  const std::shared_ptr<BlockTally> blocks_ = std::make_shared<BlockTally>();
  std::optional<Error> failed_;
  bool closed_ = false;
};

}  // namespace dlcp::engine
