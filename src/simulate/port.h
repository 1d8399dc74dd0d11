// An egress port and the one direction of a cable that it feeds: packets wait by the rules of its
// discipline, are serialised at its rate and arrive at the far end after the delay of the cable. A
// port that is idle sends at once, for one event; one that is busy needs a second to wake up.
#pragma once

#include <cstdint>
#include <memory>

#include "simulate/discipline.h"
#include "util/rng.h"

namespace dlcp::simulate {

struct Wire {
  double gbit_per_s = 100;
  Duration delay{1000};
};

struct PortCounters {
  std::uint64_t packets = 0;  // put on the wire, whatever became of them
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;        // silently, on the wire
  std::uint64_t while_down = 0;  // sent into a dead link
};

class Port final : public Sink {
 public:
  // Told when no more than `room_bytes` wait any longer.
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
  void on_event(Time now, PacketPtr) override;  // the wire is free again

  // From now on on_room() is called whenever a packet leaves and no more than that wait.
  void set_feeder(Feeder& feeder, std::size_t room_bytes) {
    feeder_ = &feeder;
    room_bytes_ = room_bytes;
  }

  const Wire& wire() const { return wire_; }
  void set_wire(const Wire& wire) {
    wire_ = wire;
    ps_per_byte_ = 8000.0 / wire.gbit_per_s;
  }
  void set_loss(double chance) { loss_ = chance; }  // of each packet, silently
  void set_down(bool down) { down_ = down; }        // everything sent is lost
  bool down() const { return down_; }

  std::size_t waiting_bytes() const { return discipline_->waiting_bytes(); }
  const Discipline& discipline() const { return *discipline_; }
  const PortCounters& counters() const { return counters_; }

 private:
  void transmit(Time now, PacketPtr packet);
  void wake_when_free();

  Events& events_;
  Sink& far_end_;
  std::unique_ptr<Discipline> discipline_;
  Wire wire_;
  double ps_per_byte_ = 80;
  std::int64_t free_at_ps_ = 0;  // whole nanoseconds would add up to an error of 1% at 400 Gbit/s
  bool wakes_ = false;
  bool down_ = false;
  double loss_ = 0;
  Feeder* feeder_ = nullptr;
  std::size_t room_bytes_ = 0;
  PortCounters counters_;
  Rng rng_;
};

}  // namespace dlcp::simulate
