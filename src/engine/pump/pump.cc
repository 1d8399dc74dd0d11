#include "engine/pump/pump.h"

#include <algorithm>
#include <utility>

namespace dlcp::engine {
namespace {

constexpr std::size_t kBatchPackets = 64;
constexpr Duration kRetryBlocked = 300us;    // if the datapath accepted fewer packets than offered
constexpr Duration kReleasePatience = 50ms;  // of a send that waits for hardware
constexpr std::size_t kCardBatches = 16;     // of what the card reports, in one step
constexpr Duration kCardPause = 20us;        // until its permissions are looked at again

core::Config with_card(core::Config config, core::Card* card) {
  config.card = card;
  return config;
}

}  // namespace

Pump::Pump(datapath::Datapath& datapath, const core::Config& config, const core::Secrets& secrets,
           Placer& placer)
    : datapath_(datapath),
      placer_(placer),
      card_(datapath.placer() == nullptr ? nullptr
                                         : std::make_unique<CardDriver>(*datapath.placer())),
      endpoint_(with_card(config, card_.get()), datapath.local_address(), secrets),
      arrived_(kBatchPackets) {}

bool Pump::post_receive(Time now, core::ConnectionId connection, core::RequestId request,
                        std::span<std::byte> buffer, const core::Licence& licence,
                        core::MemoryKind kind) {
  const bool taken = endpoint_.post_receive(now, connection, request, buffer, licence, kind);
  place();
  return taken;
}

Pump::Batch Pump::receive(Time now) {
  // A full placer is not fed: the datapath's buffers fill, packets are lost, and senders slow down.
  const std::size_t most = placer_.is_full() ? 0 : arrived_.size();
  std::size_t count = datapath_.receive(now, std::span(arrived_).first(most));
  more_to_receive_ = count == arrived_.size();
  // Before the frames: SENT_ONCE is sent after the packets that it refers to.
  const std::size_t placed = card_ ? take_card(now) : 0;
  on_packets(now, std::span(arrived_).first(count));
  for (auto refused = datapath_.next_refused(); !refused.empty();
       refused = datapath_.next_refused())
    endpoint_.on_refused(now, refused);
  take_placed(now);
  if (endpoint_.next_timeout() <= now) endpoint_.on_timeout(now);
  count += placed;
  return {count, more_to_receive_};
}

// Passes what the card reports to the core, and returns the number of reports.
std::size_t Pump::take_card(Time now) {
  std::size_t total = 0;
  std::size_t last = CardDriver::kBatch;
  for (std::size_t i = 0; i < kCardBatches && last == CardDriver::kBatch; ++i, total += last) {
    const auto runs = card_->poll_runs(now);
    last = runs.size();
    for (const wire::PlacedRun& run : runs) {
      endpoint_.on_placed_run(now, run);
      place();
    }
  }
  more_to_receive_ = more_to_receive_ || last == CardDriver::kBatch;
  if (last == CardDriver::kBatch) return total;  // a permission ends after its packets
  for (last = CardDriver::kBatch; last == CardDriver::kBatch; total += last) {
    const auto events = card_->poll_events(now);
    last = events.size();
    for (const core::PermissionEvent& event : events) {
      endpoint_.on_permission(now, event);
      place();
    }
  }
  return total;
}

void Pump::on_packets(Time now, std::span<const wire::RxPacket> packets) {
  while (!packets.empty()) {
    packets = packets.subspan(endpoint_.on_packets(now, packets));
    place();
  }
}

void Pump::place() {
  for (const core::Placement& placement : endpoint_.placements())
    placer_.place(placement);
}

void Pump::take_placed(Time now) {
  while (const auto name = placer_.poll_placed(now)) {
    endpoint_.on_placed(now, *name);
    place();
  }
}

Pump::Batch Pump::transmit(Time now) {
  if (outbox_.empty()) outbox_.filled(endpoint_.poll_transmit(now, outbox_.room()));
  if (outbox_.empty()) {
    more_to_send_ = false;
    return {};
  }
  const std::size_t taken =
      card_ ? card_->send(datapath_, outbox_.waiting()) : datapath_.send(outbox_.waiting());
  outbox_.took(taken);
  more_to_send_ = outbox_.empty();
  if (blocked()) retry_at_ = now + kRetryBlocked;
  return {taken, more_to_send_};
}

std::optional<core::Event> Pump::poll_event(Time now) {
  while (auto event = endpoint_.poll_event()) {
    if (event->kind != core::Event::Kind::kSendDone) return event;
    outbox_.drop_within(event->memory);
    if (!datapath_.reads(event->memory)) return event;
    still_read_.push_back({*event, now});  // a retransmitted copy has not left yet
  }
  return poll_released(now);
}

// Completes sends whose memory the datapath no longer reads; after kReleasePatience it forces the
// datapath to release the memory.
std::optional<core::Event> Pump::poll_released(Time now) {
  for (auto at = still_read_.begin(); at != still_read_.end(); ++at) {
    if (datapath_.reads(at->event.memory)) {
      if (now - at->since < kReleasePatience) continue;
      datapath_.abandon(at->event.memory);
    }
    core::Event event = std::move(at->event);
    still_read_.erase(at);
    return event;
  }
  return std::nullopt;
}

void Pump::forget(core::ConnectionId connection, std::span<const std::byte> memory) {
  outbox_.drop_within(memory);
  std::erase_if(still_read_, [&](const StillRead& waiting) {
    return waiting.event.connection == connection && waiting.event.memory.data() == memory.data();
  });
}

Time Pump::deadline(Time now) const {
  if (more_to_receive_ || more_to_send_) return now;
  if (blocked()) return retry_at_;  // timers must also wait for the datapath
  Time next = std::min({endpoint_.next_timeout(), datapath_.next_release(), placer_.next_placed()});
  if (card_ && card_->awaits_poll()) next = std::min(next, now + kCardPause);
  if (!still_read_.empty()) next = std::min(next, still_read_.front().since + kReleasePatience);
  return next;
}

}  // namespace dlcp::engine
