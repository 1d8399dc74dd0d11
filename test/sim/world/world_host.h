// One host of the simulated world: the engine's pump and the application, driven by World.
#pragma once

#include <optional>

#include "datapath/trace/tracing_datapath.h"
#include "engine/pump/pump.h"
#include "filtered_datapath.h"
#include "world.h"

namespace dlcp::test {

class World::Host final : engine::Placer {
 public:
  Host(World& world, HostIndex index, const core::Config& core, const HostModel& model,
       std::uint64_t seed, const core::Secrets& secrets);

  core::Endpoint& endpoint() { return pump_.endpoint(); }
  // When step() is needed; kNever if only a packet can change that.
  Time wake_at(Time now);
  void step(Time now);
  void take(Time now, const wire::RxPacket& packet) { pump_.on_packet(now, packet); }
  std::vector<datapath::TracedPacket> trace() const { return ring_->packets(); }
  void set_filter(FilteredDatapath::Filter filter) { filtered_.set_filter(std::move(filter)); }
  void forget(core::ConnectionId connection, std::span<const std::byte> memory) {
    pump_.forget(connection, memory);
  }
  void kick() { kicked_ = true; }
  void kill() { dead_ = true; }
  bool dead() const { return dead_; }
  void freeze_until(Time until) { frozen_until_ = until; }

 private:
  struct Outages {  // alternates between running and not, with random lengths
    Duration every{};
    Duration length{};
    Time from = kNever;
    Time until = kNever;
    bool covers(Time now, Rng& rng);
  };

  void place(const core::Placement& placement) override;
  void drain_events(Time now);
  void run_application(Time now);
  void serve_sender(Time now, std::size_t index, Flow& flow);
  void serve_receiver(Time now, std::size_t index, Flow& flow);
  Time next_post(const Flow& flow) const;
  Time application_wakes_at(Time now) const;

  World& world_;
  HostIndex index_;
  HostModel model_;
  datapath::sim::SimDatapath& datapath_;
  FilteredDatapath filtered_;
  const std::shared_ptr<datapath::PacketRing> ring_;
  datapath::TracingDatapath traced_;
  engine::Pump pump_;
  Rng rng_;
  Outages pauses_;
  Outages freezes_;
  Time busy_until_{};
  Time frozen_until_{};
  Time application_at_ = kNever;  // the next post that is not due yet
  Time resume_at_ = kNever;       // end of a pause in which the application may have missed events
  bool kicked_ = true;            // the application has something new to do
  bool dead_ = false;
};

}  // namespace dlcp::test
