// All-reduces by direct exchange on the simulated network, between ranks or by hubs: the exchange
// that jobs run, between hosts with the real protocol.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collective/hub_exchange.h"
#include "engine/send_order.h"
#include "world.h"

namespace dlcp::test {

struct DirectPlan {
  std::uint32_t ranks = 4;
  std::size_t floats = 64 << 10;  // of a call
  std::uint32_t calls = 1;        // the next begins, on each rank, when this one is over
  std::size_t granule = 1408;
  std::size_t block_bytes_max = std::size_t{42} * 1408;
  std::uint32_t loss_ppm = 0;  // of each tensor; 0: exact
  collective::LossFill fill = collective::LossFill::kZero;
  std::uint32_t tensor_calls = 1;  // of which a tensor consists
  std::uint32_t hubs = 0;          // hosts behind those of the ranks
};

class DirectReduce {
 public:
  // What a rank contributes to a call at an index.
  using Value = std::function<float(std::uint32_t rank, std::uint32_t call, std::size_t at)>;

  // Opens the connections and begins the first call.
  DirectReduce(World& world, const DirectPlan& plan, Value value);

  // To be called after every step of the world: what waited its turn goes on.
  bool finished();
  // Of a call that is over.
  const std::vector<float>& result(std::uint32_t rank, std::uint32_t call) const {
    return ranks_[rank]->results[call];
  }
  // Of what all ranks contribute to a call; its results lack as much.
  double lost_share(std::uint32_t call) const;
  collective::AllReduce::Blocks blocks(std::uint32_t rank) const {
    return ranks_[rank]->exchange->blocks();
  }
  // All ranks have its result.
  bool over(std::uint32_t call) const;
  // When the last rank had the result of a call, after the first began.
  Duration took(std::uint32_t call) const;

 private:
  using Transfer = collective::Transfer;
  struct Rank final : collective::Mesh {
    Rank(DirectReduce& of, const collective::Terms& terms, std::size_t staging_bytes);
    bool post(const Transfer& transfer) override { return all.post(*this, transfer); }
    DirectReduce& all;
    std::uint32_t number;
    std::vector<std::byte> staging;
    std::unique_ptr<collective::AllReduce> exchange;
    std::deque<std::vector<float>> inputs, results;
    std::vector<Time> began_at, done_at;
    struct Done {
      Transfer transfer;
      std::size_t bytes = 0;
      std::vector<ByteRange> lost;
    };
    std::deque<Done> done;                                 // not told yet
    std::array<engine::SendOrder<std::size_t>, 2> orders;  // by lane, of flows
  };
  struct Line {  // one flow, in the order of its messages
    std::size_t sends = 0;
    std::size_t receives = 0;
    std::map<std::size_t, Transfer> expected;
  };

  std::uint32_t members() const { return terms_.members(); }
  std::size_t flow_of(std::uint32_t from, std::uint32_t to, Transfer::Lane lane) const;
  void plan_messages(std::uint32_t call);
  void begin(Rank& rank);
  bool may_send(Rank& rank, Transfer::Lane lane, std::size_t flow);
  bool post(Rank& rank, const Transfer& transfer);
  void arrive(std::size_t flow, std::size_t message, std::span<const std::byte> body);
  void drive(Rank& rank);

  World& world_;
  DirectPlan plan_;
  Value value_;
  collective::Terms terms_;
  std::size_t first_flow_ = 0;
  std::vector<std::unique_ptr<Rank>> ranks_;  // and hubs
  std::vector<Line> lines_;
  std::vector<std::uint64_t> lost_;  // by call: bytes of contributions
};

}  // namespace dlcp::test
