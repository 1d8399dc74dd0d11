// All-reduces by direct exchange on the simulated network, between ranks or through hubs. It runs
// the exchange of real jobs, with the real protocol between the hosts.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collective/exchange/hub_exchange.h"
#include "engine/group/send_order.h"
#include "world.h"

namespace dlcp::test {

struct DirectPlan {
  std::uint32_t ranks = 4;
  std::size_t floats = 64 << 10;  // per call
  std::uint32_t calls = 1;        // a rank begins the next when this one is complete on it
  std::size_t granule = 1408;
  std::size_t block_bytes_max = std::size_t{42} * 1408;
  std::uint32_t loss_ppm = 0;  // share of each tensor that may be lost; 0: exact
  collective::LossFill fill = collective::LossFill::kZero;
  std::uint32_t tensor_calls = 1;  // calls per tensor
  std::uint32_t hubs = 0;          // hosts with numbers after those of the ranks
};

class DirectReduce {
 public:
  // The contribution of a rank to a call at an index.
  using Value = std::function<float(std::uint32_t rank, std::uint32_t call, std::size_t at)>;

  // Opens the connections and begins the first call.
  DirectReduce(World& world, const DirectPlan& plan, Value value);

  // Continues pending transfers; to be called after every step of the world. True at the end.
  bool finished();
  // The result of a completed call.
  const std::vector<float>& result(std::uint32_t rank, std::uint32_t call) const {
    return ranks_[rank]->results[call];
  }
  // The lost share of all ranks' contributions to a call, which its results lack.
  double lost_share(std::uint32_t call) const;
  collective::AllReduce::Blocks blocks(std::uint32_t rank) const {
    return ranks_[rank]->exchange->blocks();
  }
  // Whether all ranks have the call's result.
  bool over(std::uint32_t call) const;
  // The time from a call's first begin on any rank until the last rank had its result.
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
    std::deque<Done> done;  // completed, not reported to the exchange yet
    std::array<engine::SendOrder<std::size_t>, 2> orders;  // of flows, one order per lane
  };
  struct Line {  // one flow, by the order of its messages
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
  std::vector<std::unique_ptr<Rank>> ranks_;  // ranks, then hubs
  std::vector<Line> lines_;
  std::vector<std::uint64_t> lost_;  // by call: bytes of contributions
};

}  // namespace dlcp::test
