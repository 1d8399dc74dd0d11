// A workload: transfers, each of which begins at a given time or some time after others have
// arrived. Collectives, jobs and plain lists of flows all have this form.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "simulate/transport.h"

namespace dlcp::simulate {

struct Step {
  Transfer transfer;
  Duration wait{0};               // after the beginning, or after the last of `after` has arrived
  Duration not_before{0};         // earliest begin, after the workload's beginning
  std::vector<TransferId> after;  // indices of steps whose data must have arrived
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
  // The workload must outlive the job.
  Job(Events& events, const Workload& workload);

  // Opens the connections and runs until all data has arrived and is acknowledged. Returns false if
  // that takes longer than `limit` of simulated time. `neighbours`, if not null, carries the
  // neighbours' transfers, which have separate hosts.
  bool run(Transport& transport, Duration limit, Transport* neighbours = nullptr);
  // Called, if set, at the job's beginning, to schedule faults.
  std::function<void(Time begins)> at_start;

  Time began() const { return began_; }
  // Until the last of the job's transfers has arrived, neighbours excluded.
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
  std::vector<std::uint32_t> waits_for_;        // by step: number of steps that it waits for
  std::vector<std::vector<TransferId>> frees_;  // by step: steps that wait for it
  std::size_t undelivered_ = 0;
  std::size_t unacknowledged_ = 0;
  Time began_{};
  Time delivered_at_{};
  Time acknowledged_at_{};
};

}  // namespace dlcp::simulate
