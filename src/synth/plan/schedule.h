// The messages of every rank, in steps: the common form of all algorithms, which the verifier
// proves, the simulation evaluates and the benchmark executes.
//
// A rank's buffer of S bytes is cut into `units` equal parts; a chunk is a range of them.
// AllReduce: of the vector. AllGather: of the output; chunk.source has it first. ReduceScatter: of
// the input; its sum ends at chunk.target. AllToAll: the units divide one block (S/ranks) for one
// pair of ranks.
//
// A message of step k carries the sender's data after all messages of lower steps have arrived.
// `reduce` adds it to the receiver's data; otherwise it replaces that data. Messages of one ordered
// pair of ranks are sent in the order of the list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synth/plan/collective.h"

namespace dlcp::synth {

struct Chunk {
  int begin = 0;  // first unit
  int units = 1;
  int source = -1;
  int target = -1;

  bool operator==(const Chunk&) const = default;
};

struct Range {
  int first = 0;  // index into Schedule::chunks
  int count = 1;

  bool operator==(const Range&) const = default;
};

struct Message {
  int step = 0;
  int from = 0;
  int to = 0;
  bool reduce = false;
  std::uint32_t first_range = 0;
  std::uint32_t ranges = 0;

  bool operator==(const Message&) const = default;
};

class Schedule {
 public:
  Collective collective = Collective::kAllGather;
  int ranks = 1;
  int units = 1;
  std::vector<Chunk> chunks;
  std::vector<Message> messages;
  std::vector<Range> range_pool;

  bool operator==(const Schedule&) const = default;
  std::span<const Range> ranges(const Message& message) const {
    return {range_pool.data() + message.first_range, message.ranges};
  }
  // Calls visit(chunk) for all chunks of the message, in order.
  template <class Visit>
  void each_chunk(const Message& message, Visit&& visit) const {
    for (const Range& range : ranges(message))
      for (int chunk = range.first; chunk < range.first + range.count; ++chunk)
        visit(chunk);
  }
  void add(int step, int from, int to, bool reduce, std::span<const Range> ranges);
  void add(int step, int from, int to, bool reduce, Range range) {
    add(step, from, to, reduce, {&range, 1});
  }

  int steps() const;  // one more than the highest step
  std::int64_t units_of(const Message& message) const;
  // The message's size as a share of a rank's buffer of S bytes.
  double share_of(const Message& message) const;
  void sort_by_step();  // stable
};

// The reverse schedule: copies from a root become sums to it. AllGather becomes ReduceScatter.
Schedule reversed(const Schedule& gather);
// Sums to each chunk's source, then copies to all ranks: an AllReduce.
Schedule all_reduce_of(const Schedule& reduce, const Schedule& gather);
// The same for each of `slices` equal parts of every chunk, each part one step behind the previous
// one, so that steps of different parts overlap.
Schedule sliced(const Schedule& schedule, int slices);

}  // namespace dlcp::synth
