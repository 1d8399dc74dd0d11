// The questions of a sending connection: when (ProbeClock), and how large (PacketSize): a question
// is padded where packets of data come to nothing although the peer answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/channel/frame_arena.h"
#include "core/liveness/probe_clock.h"
#include "core/loss_detection/flight.h"
#include "core/packet_size/packet_size.h"
#include "core/paths/path_set.h"
#include "util/time.h"

namespace dlcp::core {

class Prober {
 public:
  explicit Prober(Duration peer_timeout) : clock_(peer_timeout) {}

  ProbeClock& clock() { return clock_; }
  const ProbeClock& clock() const { return clock_; }
  PacketSize& size() { return size_; }
  const PacketSize& size() const { return size_; }

  Time next_timeout(bool owes_progress) const;
  // True when it is time to ask. `owes_progress`: the peer has room for what we send.
  bool on_timeout(Time now, const ProbeClock::Terms& terms, bool owes_progress);
  // What we sent has arrived.
  void on_progress();
  // The send time of the question that `echo` answers, and the path that carried both.
  struct Answer {
    Time asked_at;
    wire::PathIndex path = 0;
  };
  Answer on_answer(Time now, std::uint32_t echo);

  // The questions that are due; returns how many.
  std::size_t poll_transmit(Time now, const Recipient& to, const Flight& flight, PathSet& paths,
                            FrameWriter& frames, std::span<wire::TxPacket> out);

 private:
  ProbeClock clock_;
  PacketSize size_;
};

}  // namespace dlcp::core
