// Moves packets between one datapath and the protocol core: passes received packets to the core,
// has payload placed, passes packets to the datapath, and reports completions. It has no lock,
// thread or clock: its driver (the engine, or a simulated host in tests) passes the time and
// serialises calls. Each call does a bounded amount of work.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/endpoint.h"
#include "datapath/datapath.h"
#include "engine/pump/card_driver.h"
#include "engine/pump/outbox.h"
#include "engine/pump/placer.h"

namespace dlcp::engine {

class Pump {
 public:
  // `datapath` and `placer` must outlive this object.
  Pump(datapath::Datapath& datapath, const core::Config& config, const core::Secrets& secrets,
       Placer& placer);

  // For calls from above. Receives must be posted with post_receive(), which also places data that
  // arrived early.
  core::Endpoint& endpoint() { return endpoint_; }
  const core::Endpoint& endpoint() const { return endpoint_; }
  bool post_receive(Time now, core::ConnectionId connection, core::RequestId request,
                    std::span<std::byte> buffer, const core::Licence& licence,
                    core::MemoryKind kind = core::MemoryKind::kHost);

  struct Batch {
    std::size_t packets = 0;
    bool more = false;  // the limit was reached, so there may be more
  };
  // Handles at most 64 packets and the timers that are due.
  Batch receive(Time now);
  // Handles a packet as if it came from the datapath.
  void on_packet(Time now, const wire::RxPacket& packet) { on_packets(now, {&packet, 1}); }
  // Offers the datapath at most one outbox of packets; those that it does not accept are offered
  // again.
  Batch transmit(Time now);

  // A send completes once the peer has the message and the datapath no longer reads its memory.
  std::optional<core::Event> poll_event(Time now);
  // The application has given up a request: its packets that wait here are not sent, and no event
  // reports it.
  void forget(core::ConnectionId connection, std::span<const std::byte> memory);

  // Lines for the log about peers whose cards place data, or do not, since the last call.
  std::vector<std::string> take_news() {
    return card_ ? card_->news().take() : std::vector<std::string>{};
  }

  // Handles placements that are complete; receive() does this, too.
  void take_placed(Time now);

  // When receive() and transmit() are due even if no packet arrives.
  Time deadline(Time now) const;
  // True if packets wait here because the datapath did not accept them.
  bool blocked() const { return !outbox_.empty(); }

 private:
  void on_packets(Time now, std::span<const wire::RxPacket> packets);

  // A send that the peer has received but whose memory the datapath still reads.
  struct StillRead {
    core::Event event;
    Time since;
  };

  void place();
  std::size_t take_card(Time now);
  std::optional<core::Event> poll_released(Time now);

  datapath::Datapath& datapath_;
  Placer& placer_;
  const std::unique_ptr<CardDriver> card_;  // null: the datapath's card places nothing
  core::Endpoint endpoint_;
  Outbox outbox_;
  std::vector<wire::RxPacket> arrived_;
  std::deque<StillRead> still_read_;
  bool more_to_receive_ = false;
  bool more_to_send_ = false;
  Time retry_at_{};  // if blocked()
};

}  // namespace dlcp::engine
