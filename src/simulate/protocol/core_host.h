// One host with the real protocol: the engine's pump between the core and a phantom datapath. It
// runs only on events: a packet, room at its network card, or the deadline of its pump.
#pragma once

#include <cstdint>
#include <span>

#include "engine/pump/pump.h"
#include "simulate/protocol/phantom_datapath.h"

namespace dlcp::simulate {

class CoreHost final : public Sink, public Port::Feeder, engine::Placer {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_core_event(Time now, HostIndex host, const core::Event& event) = 0;
    // The data at this place is lost.
    virtual void on_zeros(std::span<const std::byte> place) = 0;
    // After a step: connections may have opened, posts may be possible again.
    virtual void on_step(Time now, HostIndex host) = 0;
  };

  // `packet_cost`: processor time of the host, for each packet sent or received.
  CoreHost(Fabric& fabric, PacketPool& pool, PhantomMemory& memory, Scratch& scratch,
           HostIndex host, const HostPlan& plan, core::Config config, Duration packet_cost,
           std::uint64_t seed, Listener& listener);

  engine::Pump& pump() { return pump_; }
  core::Endpoint& endpoint() { return pump_.endpoint(); }
  const wire::EndpointAddress& address() const { return datapath_.local_address(); }
  PhantomMemory::Cursor& cursor() { return cursor_; }
  std::uint64_t dropped() const { return datapath_.dropped(); }

  void on_event(Time now, PacketPtr packet) override;  // a packet, or a wake-up
  void on_room(Time now) override {
    if (pump_.blocked()) step(now);
  }
  // Call it after calls to the core.
  void step(Time now);

 private:
  void place(const core::Placement& one) override {
    if (one.zeros > 0) listener_.on_zeros({one.destination, one.zeros});
  }
  void drain(Time now);
  void sleep(Time now);

  Events& events_;
  Listener& listener_;
  HostIndex index_;
  PhantomDatapath datapath_;
  engine::Pump pump_;
  PhantomMemory::Cursor cursor_;
  const Duration packet_cost_;
  Time busy_until_{};
  Time wakes_at_ = kNever;  // the earliest scheduled wake-up
};

}  // namespace dlcp::simulate
