// A group of ranks whose connections are queues in memory: messages of one connection arrive in
// order, and in any order between connections; posts are refused at random, and licensed data is
// lost at random.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "collective/exchange/hub_exchange.h"
#include "util/rng.h"

namespace dlcp::test {

// An `Algorithm` object is constructed from the value of `Make` for each rank.
template <class Algorithm>
class MemoryGroupOf {
 public:
  using Make = std::function<std::unique_ptr<Algorithm>(std::uint32_t rank, std::span<std::byte>)>;

  MemoryGroupOf(std::uint32_t members, const Make& make, std::size_t staging_bytes,
                std::uint64_t seed)
      : rng_(seed) {
    for (std::uint32_t rank = 0; rank < members; ++rank)
      members_.push_back(std::make_unique<Member>(*this, rank, make, staging_bytes));
  }

  Algorithm& rank(std::uint32_t rank) { return *members_[rank]->exchange; }
  std::size_t messages() const { return messages_; }
  // Loses this share of the licensed data, in pieces of `piece_bytes`, as far as the licence
  // allows.
  void lose(double share, std::size_t piece_bytes) {
    loss_ = share;
    piece_bytes_ = piece_bytes;
  }
  using Lost = std::function<void(const collective::Transfer&, ByteRange)>;
  void on_lost(Lost lost) { on_lost_ = std::move(lost); }
  // Performs one event at some rank; false if none is possible.
  bool step() {
    for (auto& member : members_) {
      if (rng_.chance(0.5)) member->exchange->post_to(*member);
      if (rng_.chance(0.5)) member->exchange->work();
    }
    std::vector<Connection*> ready;
    for (auto& [name, connection] : connections_)
      if (!connection.sends.empty() && !connection.receives.empty()) ready.push_back(&connection);
    if (ready.empty()) return settle();
    deliver(*ready[rng_.below(ready.size())]);
    return true;
  }
  void finish() {
    while (step()) {
    }
  }

 private:
  using Transfer = collective::Transfer;
  struct Connection {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::deque<Transfer> sends;
    std::deque<Transfer> receives;
  };
  struct Member final : collective::Mesh {
    Member(MemoryGroupOf& of, std::uint32_t number, const Make& make, std::size_t staging_bytes)
        : group(of), rank(number), memory(staging_bytes), exchange(make(number, memory)) {}
    bool post(const Transfer& transfer) override { return group.post(rank, transfer); }
    MemoryGroupOf& group;
    std::uint32_t rank;
    std::vector<std::byte> memory;
    std::unique_ptr<Algorithm> exchange;
  };

  bool post(std::uint32_t rank, const Transfer& transfer) {
    if (rng_.chance(0.3)) return false;
    const std::uint32_t from = transfer.sends ? rank : transfer.peer;
    const std::uint32_t to = transfer.sends ? transfer.peer : rank;
    Connection& connection = connections_[{from, to, transfer.lane}];
    connection.from = from;
    connection.to = to;
    (transfer.sends ? connection.sends : connection.receives).push_back(transfer);
    return true;
  }

  void deliver(Connection& connection) {
    const Transfer send = connection.sends.front();
    const Transfer receive = connection.receives.front();
    connection.sends.pop_front();
    connection.receives.pop_front();
    if (send.memory.size() > receive.memory.size()) throw std::runtime_error("message too long");
    const bool told = send.block == Transfer::kNoBlock;  // the description of a call, for hubs
    if (send.block != receive.block || (!told && send.call != receive.call))
      throw std::runtime_error("the ends do not mean the same message");
    if (!send.memory.empty())
      std::memcpy(receive.memory.data(), send.memory.data(), send.memory.size());
    ++messages_;
    members_[connection.to]->exchange->on_done(receive, send.memory.size(), lose_of(send, receive));
    members_[connection.from]->exchange->on_done(send, send.memory.size());
  }

  // As in the core: either all missing data of a message is granted by the pool, or nothing.
  std::vector<ByteRange> lose_of(const Transfer& send, const Transfer& receive) {
    std::vector<ByteRange> lost;
    std::size_t bytes = 0;
    const std::size_t whole = send.memory.size();
    if (send.leave.budget_ppm == 0 || receive.leave.budget_ppm == 0) return lost;
    for (std::size_t at = 0; at < whole; at += piece_bytes_) {
      if (!rng_.chance(loss_)) continue;
      lost.push_back({at, std::min(at + piece_bytes_, whole)});
      bytes += lost.back().size();
    }
    if (bytes > whole / 4 || !receive.leave.pool->spend(bytes)) return {};
    for (const ByteRange& range : lost) {
      std::memset(receive.memory.data() + range.begin, 0, range.size());
      if (on_lost_) on_lost_(receive, range);
    }
    return lost;
  }

  // Performs refused posts and pending reductions, without randomness.
  bool settle() {
    bool any = false;
    for (auto& member : members_) {
      while (member->exchange->work())
        any = true;
      for (int i = 0; i < 64; ++i)
        member->exchange->post_to(*member);
    }
    for (auto& [name, connection] : connections_)
      any = any || (!connection.sends.empty() && !connection.receives.empty());
    return any;
  }

  Rng rng_;
  std::vector<std::unique_ptr<Member>> members_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, Transfer::Lane>, Connection> connections_;
  std::size_t messages_ = 0;
  double loss_ = 0;
  std::size_t piece_bytes_ = 128;
  Lost on_lost_;
};

// Ranks, followed by hubs if the terms have any.
class MemoryGroup : public MemoryGroupOf<collective::AllReduce> {
 public:
  MemoryGroup(const collective::Terms& terms, std::size_t staging_bytes, std::uint64_t seed)
      : MemoryGroupOf(
            terms.members(),
            [terms](std::uint32_t member,
                    std::span<std::byte> staging) -> std::unique_ptr<collective::AllReduce> {
              collective::Terms own = terms;
              own.rank = member;
              if (own.is_hub()) return std::make_unique<collective::HubExchange>(own, staging);
              return std::make_unique<collective::Exchange>(own, staging);
            },
            staging_bytes, seed) {}
};

}  // namespace dlcp::test
