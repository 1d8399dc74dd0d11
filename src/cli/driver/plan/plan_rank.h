// One rank's part of a planned collective: sends and receives the messages of each connection in
// the plan's order, and adds or copies what arrives.
//
// The operations on a chunk follow the order of steps; within a step, sends come before receives.
// Every rank thus waits only for operations that come earlier in an order common to all ranks, so
// the collective cannot deadlock.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "cli/driver/lane.h"
#include "cli/plugin/net_plugin.h"
#include "synth/plan/schedule.h"

namespace dlcp::cli {

// The elements of a chunk: within the buffer (AllReduce, AllGather, ReduceScatter), or within the
// block of one rank, a buffer having one block per rank (AllToAll).
struct Span {
  std::size_t begin = 0;
  std::size_t count = 0;
};
Span span_of(const synth::Schedule& schedule, const synth::Chunk& chunk, std::size_t elements);

class PlanRank {
 public:
  // The plugin's connections, by peer rank; null where there is none.
  struct Comms {
    std::vector<void*> send;
    std::vector<void*> recv;
  };
  // `elements`: of each rank's buffer.
  PlanRank(NetPlugin& net, const Comms& comms, const synth::Schedule& schedule, int rank,
           std::size_t elements);

  // This rank's copy of a chunk that it sends, receives, contributes or ends with.
  std::byte* at(int chunk) {
    return memory_.data() + place_[static_cast<std::size_t>(chunk)] * sizeof(float);
  }
  std::size_t count(int chunk) const { return counts_[static_cast<std::size_t>(chunk)]; }
  bool holds(int chunk) const { return place_[static_cast<std::size_t>(chunk)] != kNowhere; }

  void restart();
  bool step();  // false: nothing moved
  // Whether the output is complete and every send has been posted.
  bool done() const { return left_ == 0; }
  bool drained() const;  // no send is outstanding either
  std::uint64_t bytes_received() const { return bytes_; }

 private:
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
  struct Part {
    int chunk;
    std::uint32_t turn;  // number of earlier operations on the chunk
  };
  struct Transfer {
    bool reduce;
    std::size_t count;  // elements
    std::vector<Part> parts;
  };
  struct Line {  // one direction of one connection
    std::vector<Transfer> transfers;
    std::unique_ptr<Lane> lane;  // null: no transfers
    std::size_t slot_bytes = 0;
    std::size_t at = 0;       // the next transfer
    std::uint64_t first = 0;  // number of messages of earlier runs
  };

  void place_chunks(std::size_t elements);
  void add_transfers(const Comms& comms);
  bool my_turn(const Transfer& transfer) const;
  void take_turn(const Transfer& transfer);
  bool send(Line& line);
  bool receive(Line& line);

  NetPlugin& net_;
  const synth::Schedule& schedule_;
  int rank_;
  std::vector<std::byte> memory_;    // floats
  std::vector<std::size_t> place_;   // by chunk: index of its first float in memory_
  std::vector<std::size_t> counts_;  // by chunk
  std::vector<std::uint32_t> turns_;
  std::vector<Line> sends_;
  std::vector<Line> recvs_;
  std::size_t transfers_ = 0;
  std::size_t left_ = 0;  // transfers that are not posted or not received yet
  std::uint64_t bytes_ = 0;
};

}  // namespace dlcp::cli
