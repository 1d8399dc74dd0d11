// Simulates a faulty network in front of any datapath: drops, duplicates, reorders, delays and
// corrupts sent packets by a seeded plan. The same packets get the same faults in every run. It
// owns the inner datapath and copies of all packets that it holds back; received packets are not
// changed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "datapath/faulty/fault_spec.h"
#include "datapath/forwarding_datapath.h"
#include "util/rng.h"

namespace dlcp::datapath {

// Number of packets by type of fault; a packet may be counted several times.
struct FaultCounters {
  std::uint64_t offered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t blackholed = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t delayed = 0;
};

class FaultyDatapath final : public ForwardingDatapath {
 public:
  FaultyDatapath(std::unique_ptr<Datapath> inner, const FaultSpec& spec);

  // Time does not advance between calls of receive(): delays count from the last `now` passed
  // there.
  std::size_t send(std::span<const wire::TxPacket> packets) override;
  // Also sends the packets that are due by `now`.
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override;
  // When receive() must be called to send the next packet held back; kNever if none is.
  Time next_release() const override;
  // Placed packets would pass without faults, so that there are none.
  Placer* placer() override { return nullptr; }

  const FaultCounters& counters() const { return counters_; }
  const Datapath& inner() const { return inner_; }

 private:
  // A packet with memory of its own.
  struct Held {
    wire::TxPacket packet;  // payload and destination are set when it is sent
    wire::EndpointAddress destination;
    std::vector<std::byte> payload;
  };
  struct Reordered {
    Held held;
    std::uint64_t release_at_packet = 0;  // as a count of packets offered
    Time release_at;                      // upper bound if no more packets follow
  };

  static Held hold(const wire::TxPacket& packet);
  bool loses(const wire::TxPacket& packet);
  void apply(const wire::TxPacket& packet);
  void corrupt(Held& held);
  void forward(Held held);
  void adopt(std::size_t index, Held held);
  void release_due();
  bool flush();

  const std::unique_ptr<Datapath> owner_;  // owns inner_
  FaultSpec spec_;
  Rng rng_;
  std::vector<bool> blackholes_;  // by path
  double loss_start_ = 0;         // probability that a loss burst starts at a packet
  std::uint32_t loss_left_ = 0;   // packets to lose before the current burst ends
  Time now_;

  std::vector<Reordered> reordered_;
  // Delayed packets by due time; those with the same time stay in order.
  std::map<std::pair<Time, std::uint64_t>, Held> delayed_;
  std::uint64_t delayed_count_ = 0;
  // Packets to pass to the inner datapath, in order. They refer to the caller's memory only inside
  // send().
  std::vector<wire::TxPacket> ready_;
  std::vector<std::unique_ptr<Held>> owned_;  // memory that packets of ready_ refer to
  FaultCounters counters_;
};

}  // namespace dlcp::datapath
