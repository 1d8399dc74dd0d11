// A workload: transfers, each of which begins at a time or some time after others have arrived.
// Collectives, jobs and plain lists of flows are all of this form.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "simulate/transport.h"

namespace dlcp::simulate {

struct Step {
  Transfer transfer;
  Duration wait{0};               // after the beginning, or after the last of those before it
  Duration not_before{0};         // after the beginning, whatever it waits for
  std::vector<TransferId> after;  // indices of steps; their data has to be here
};
using Workload = std::vector<Step>;

struct Finish {
  bool neighbour = false;
  Time began{};
  Time delivered = kNever;
  Time acknowledged = kNever;

  Duration took() const { return delivered - began; }
};

class Job final : public TransferListener {
 public:
  // The workload outlives the job.
  Job(Events& events, const Workload& workload);

  // Opens the connections and runs until everything has arrived and is acknowledged. False if that
  // takes longer than `limit` of simulated time. `neighbours`, if not null, moves what is theirs:
  // between hosts of their own.
  bool run(Transport& transport, Duration limit, Transport* neighbours = nullptr);
  // Also called, if set, at the job's beginning: faults that come at a time.
  std::function<void(Time begins)> at_start;

  Time began() const { return began_; }
  // Until the last of the job has arrived, neighbours apart.
  Duration took() const { return delivered_at_ - began_; }
  Duration took_acknowledged() const { return acknowledged_at_ - began_; }
  const std::vector<Finish>& finishes() const { return finishes_; }

  void on_delivered(Time now, TransferId id) override;
  void on_acknowledged(Time now, TransferId id) override;

 private:
  class Starter final : public Sink {
   public:
    explicit Starter(Job& job) : job_(job) {}
    void on_event(Time now, PacketPtr packet) override { job_.begin(now, packet->flow); }

   private:
    Job& job_;
  };
  void schedule(Time at, TransferId id);
  void begin(Time now, TransferId id);
  Transport& mover(const Transfer& transfer) {
    return transfer.neighbour && neighbours_ != nullptr ? *neighbours_ : *transport_;
  }

  Events& events_;
  const Workload& workload_;
  Transport* transport_ = nullptr;
  Transport* neighbours_ = nullptr;
  PacketPool tokens_;
  Starter starter_{*this};
  std::vector<Finish> finishes_;
  std::vector<std::uint32_t> waits_for_;        // of each step, so many others
  std::vector<std::vector<TransferId>> frees_;  // whom each step lets begin
  std::size_t undelivered_ = 0;
  std::size_t unacknowledged_ = 0;
  Time began_{};
  Time delivered_at_{};
  Time acknowledged_at_{};
};

}  // namespace dlcp::simulate
