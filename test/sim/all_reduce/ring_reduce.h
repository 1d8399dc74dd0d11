// Ring all-reduces that really add: every rank's application receives a partial sum, adds its own
// part and sends the sum on, as in NCCL's ring; the last ranks - 1 stages carry final values. The
// licences are set by the test; everything below is the real protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "world.h"

namespace dlcp::test {

struct RingPlan {
  std::uint32_t ranks = 4;
  std::size_t part_floats = 16 << 10;  // per message; the result has `ranks` such parts
  std::uint32_t budget_ppm = 0;        // 0: exact
  std::uint32_t collectives = 1;

  std::size_t part_bytes() const { return part_floats * 4; }
  std::uint64_t result_bytes() const { return std::uint64_t{part_bytes()} * ranks; }
  std::uint32_t stages() const { return 2 * (ranks - 1); }
};

class RingReduce {
 public:
  // The contribution of a rank to a collective at an index.
  using Value = std::function<float(std::uint32_t rank, std::uint32_t collective, std::size_t at)>;

  // Opens the connections and posts the receives of the first collective.
  RingReduce(World& world, const RingPlan& plan, Value value);

  // The result of the newest collective that all ranks have finished.
  const std::vector<float>& result(std::uint32_t rank) const { return ranks_[rank].finished; }
  // The lost share of all ranks' contributions to the collective.
  double lost_share(std::uint32_t collective) const;
  std::uint64_t lost_bytes() const;
  std::size_t flow_of(std::uint32_t rank) const { return first_flow_ + rank; }
  // The time from a collective's first send until the last rank had the result.
  Duration took(std::uint32_t collective) const;

 private:
  struct Rank {
    std::vector<float> sums;
    std::vector<float> finished;
    std::vector<Time> done_at;
    std::size_t next = 0;                                 // the next message to process
    std::map<std::size_t, std::vector<std::byte>> early;  // received before their turn
  };
  void begin(std::uint32_t rank, std::uint32_t collective);
  void send(std::uint32_t rank, std::uint32_t collective, std::uint32_t stage);
  void take_up(std::uint32_t rank, std::size_t message, const std::vector<std::byte>& body);
  core::Licence licence(std::uint32_t collective, std::uint32_t stage) const;

  World& world_;
  RingPlan plan_;
  Value value_;
  std::size_t first_flow_ = 0;
  std::vector<Rank> ranks_;
  std::vector<Time> began_at_;
};

}  // namespace dlcp::test
