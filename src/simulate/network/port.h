// An egress port and its direction of a cable: packets wait in the port's discipline, are
// serialised at its rate and arrive at the far end after the cable's delay. An idle port sends at
// once and needs one event per packet; a busy port needs a second one to wake up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "simulate/network/discipline.h"
#include "util/rng.h"

namespace dlcp::simulate {

struct Wire {
  double gbit_per_s = 100;
  Duration delay{1000};
};

// Priority flow control: a switch pauses the port that sends to it when more than `off_bytes` of
// that port's packets wait in the switch, and resumes it below the lower threshold. The strict
// queue is never paused.
struct FlowControl {
  std::size_t off_bytes = 0;
  std::size_t on_bytes = 0;
};

struct PortCounters {
  std::uint64_t packets = 0;  // put on the wire, including those lost later
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;        // lost silently on the wire
  std::uint64_t while_down = 0;  // sent while the link was down
  std::uint64_t pauses = 0;      // requested by the far end
};

class Port final : public Sink {
 public:
  // Called when at most `room_bytes` wait.
  class Feeder {
   public:
    virtual ~Feeder() = default;
    virtual void on_room(Time now) = 0;
  };

  Port(Events& events, Sink& far_end, std::unique_ptr<Discipline> discipline, const Wire& wire,
       std::uint64_t seed)
      : events_(events), far_end_(far_end), discipline_(std::move(discipline)), rng_(seed) {
    set_wire(wire);
  }

  void enqueue(Time now, PacketPtr packet);
  void on_event(Time now, PacketPtr) override;  // transmission complete

  // Calls on_room() whenever a packet leaves and at most `room_bytes` wait.
  void set_feeder(Feeder& feeder, std::size_t room_bytes) {
    feeder_ = &feeder;
    room_bytes_ = room_bytes;
  }

  void use_flow_control(const FlowControl& limits) { flow_control_ = limits; }
  // Called at the far end when a packet of this port enters or leaves the switch.
  void hold(Time now, std::size_t bytes);
  void let_go(Time now, std::size_t bytes);

  const Wire& wire() const { return wire_; }
  void set_wire(const Wire& wire) {
    wire_ = wire;
    ps_per_byte_ = 8000.0 / wire.gbit_per_s;
  }
  void set_loss(double chance) { loss_ = chance; }  // of each packet, silently
  void set_down(bool down) { down_ = down; }        // all packets sent are lost
  bool down() const { return down_; }
  // Pauses all but the strict queue, as a host requests it.
  void set_paused(bool paused);

  // Bytes waiting, plus the rest of the packet in transmission.
  double backlog_bytes(Time now) const {
    const auto left_ps = static_cast<double>(free_at_ps_ - ns_of(now) * 1000);
    return static_cast<double>(waiting_bytes()) + std::max(left_ps, 0.0) / ps_per_byte_;
  }
  std::size_t waiting_bytes() const { return discipline_->waiting_bytes(); }
  const Discipline& discipline() const { return *discipline_; }
  const PortCounters& counters() const { return counters_; }

 private:
  // Delivers the far end's pause and resume requests to this port after the cable's delay.
  class Rein final : public Sink {
   public:
    explicit Rein(Port& port) : port_(port) {}
    void on_event(Time, PacketPtr) override { port_.set_paused(!port_.paused_); }

   private:
    Port& port_;
  };

  void transmit(Time now, PacketPtr packet);
  void wake_when_free();
  Events& events_;
  Sink& far_end_;
  std::unique_ptr<Discipline> discipline_;
  Wire wire_;
  double ps_per_byte_ = 80;
  std::int64_t free_at_ps_ = 0;  // whole nanoseconds would give an error of 1% at 400 Gbit/s
  bool wakes_ = false;
  bool down_ = false;
  double loss_ = 0;
  Feeder* feeder_ = nullptr;
  std::size_t room_bytes_ = 0;
  std::optional<FlowControl> flow_control_;
  std::size_t held_bytes_ = 0;  // this port's bytes in the switch at the far end
  bool asked_ = false;          // the far end has requested a pause
  bool paused_ = false;         // this port is paused
  Rein rein_{*this};
  PortCounters counters_;
  Rng rng_;
};

}  // namespace dlcp::simulate
