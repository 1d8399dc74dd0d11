// The probes of a sending association: their times (ProbeClock) and their sizes (PacketSize). A
// probe is padded if data packets do not arrive although the peer answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/channel/frame_writer.h"
#include "core/liveness/probe_clock.h"
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
  // True when it is time to probe. `owes_progress`: the peer has room for the data that is sent.
  bool on_timeout(Time now, const ProbeClock::Terms& terms, bool owes_progress);
  // Data has been acknowledged.
  void on_progress();
  // The send time of the probe that `echo` answers, and the path that carried the probe.
  struct Answer {
    Time asked_at;
    wire::PathIndex path = 0;
  };
  Answer on_answer(Time now, std::uint32_t echo);
  std::uint32_t answers() const { return answers_; }  // so far

  // Writes the probes that are due; returns their number.
  std::size_t poll_transmit(Time now, const Recipient& to, PathSet& paths, FrameWriter& frames,
                            std::span<wire::TxPacket> out);

 private:
  ProbeClock clock_;
  PacketSize size_;
  std::uint32_t answers_ = 0;
};

}  // namespace dlcp::core
