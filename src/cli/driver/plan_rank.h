// One rank's part of a planned collective, as an executor of plans drives a net plugin: messages of
// a connection in the plan's order, sums and copies between arrival and departure.
//
// What is done with one chunk is done in the order of steps, what is sent of a step before what
// arrives of it. So every rank waits only for what comes earlier in one common order, which ends.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "cli/driver/lane.h"
#include "cli/plugin/net_plugin.h"
#include "synth/schedule.h"

namespace dlcp::cli {

// Where the elements of a chunk are: of the buffer (AllReduce, AllGather, ReduceScatter), or of a
// block, of which each of the ranks has as many as fit (AllToAll).
struct Span {
  std::size_t begin = 0;
  std::size_t count = 0;
};
Span span_of(const synth::Schedule& schedule, const synth::Chunk& chunk, std::size_t elements);

class PlanRank {
 public:
  // The plugin's connections, by the other rank; null where nothing is sent or received.
  struct Comms {
    std::vector<void*> send;
    std::vector<void*> recv;
  };
  // `elements` of each rank's buffer.
  PlanRank(NetPlugin& net, const Comms& comms, const synth::Schedule& schedule, int rank,
           std::size_t elements);

  // This rank's copy of a chunk; only of chunks that it sends, receives, begins or ends with.
  std::byte* at(int chunk) {
    return memory_.data() + place_[static_cast<std::size_t>(chunk)] * sizeof(float);
  }
  std::size_t count(int chunk) const { return counts_[static_cast<std::size_t>(chunk)]; }
  bool holds(int chunk) const { return place_[static_cast<std::size_t>(chunk)] != kNowhere; }

  void restart();
  bool step();  // false: nothing moved
  // The output is there, and all that others need has been handed over.
  bool done() const { return left_ == 0; }
  bool drained() const;  // nothing of it is on its way any more
  std::uint64_t bytes_received() const { return bytes_; }

 private:
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
  struct Part {
    int chunk;
    std::uint32_t turn;  // how many things are done with the chunk before
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
    std::size_t at = 0;       // the transfer whose data move next
    std::uint64_t first = 0;  // messages of earlier runs: they number the slots
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
  std::vector<std::size_t> place_;   // by chunk: the float of memory_ that it begins with
  std::vector<std::size_t> counts_;  // by chunk
  std::vector<std::uint32_t> turns_;
  std::vector<Line> sends_;
  std::vector<Line> recvs_;
  std::size_t transfers_ = 0;
  std::size_t left_ = 0;  // transfers that are not handed over, or not received
  std::uint64_t bytes_ = 0;
};

}  // namespace dlcp::cli
