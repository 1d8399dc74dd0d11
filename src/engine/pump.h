// What moves packets between one datapath and the protocol core: takes what has arrived, has it
// placed, hands over what is to be sent, and tells what is done. It has no lock, thread or clock:
// whoever drives it (the engine, or a simulated host in the tests) passes the time and sees to it
// that calls do not overlap. Each call does a bounded amount of work.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/endpoint.h"
#include "datapath/datapath.h"
#include "engine/outbox.h"
#include "engine/placer.h"

namespace dlcp::engine {

class Pump {
 public:
  // `datapath` and `placer` outlive it.
  Pump(datapath::Datapath& datapath, const core::Config& config, const core::Secrets& secrets,
       Placer& placer);

  // For calls from above. Receives are posted below, as what came early has to be placed.
  core::Endpoint& endpoint() { return endpoint_; }
  const core::Endpoint& endpoint() const { return endpoint_; }
  bool post_receive(Time now, core::ConnectionId connection, core::RequestId request,
                    std::span<std::byte> buffer, const core::Licence& licence);

  struct Batch {
    std::size_t packets = 0;
    bool more = false;  // the bound was reached, so there may be more
  };
  // Takes at most 64 packets, and serves the timers that are due by then.
  Batch receive(Time now);
  // As if the packet had come from the datapath.
  void on_packet(Time now, const wire::RxPacket& packet);
  // Offers the datapath at most one outbox of packets; what it does not take is offered again.
  Batch transmit(Time now);

  // A send is done once the peer has it and nobody reads its memory any more.
  std::optional<core::Event> poll_event(Time now);
  // A request that the application has given up: no packet of it that waits here is sent any more,
  // and no event tells of it.
  void forget(core::ConnectionId connection, std::span<const std::byte> memory);

  // What the placer has done since the last time; receive() does it as well.
  void take_placed(Time now);

  // When receive() and transmit() are due although no packet arrives.
  Time deadline(Time now) const;
  // Packets wait here because the datapath did not take them.
  bool blocked() const { return !outbox_.empty(); }

 private:
  // A send that the peer has but whose memory the datapath still reads.
  struct StillRead {
    core::Event event;
    Time since;
  };

  void place();
  std::optional<core::Event> poll_released(Time now);

  datapath::Datapath& datapath_;
  Placer& placer_;
  core::Endpoint endpoint_;
  Outbox outbox_;
  std::vector<wire::RxPacket> arrived_;
  std::deque<StillRead> still_read_;
  bool more_to_receive_ = false;
  bool more_to_send_ = false;
  Time retry_at_{};  // while blocked()
};

}  // namespace dlcp::engine
