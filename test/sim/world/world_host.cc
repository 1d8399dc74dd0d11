#include "world_host.h"

#include <algorithm>
#include <cmath>

#include "engine/trace/decision_notes.h"

namespace dlcp::test {
namespace {

Duration exponential(Rng& rng, Duration mean) {
  return Duration(
      static_cast<std::int64_t>(-std::log(1 - rng.unit()) * static_cast<double>(mean.count())) + 1);
}

// Per host; shown when a test fails.
constexpr std::size_t kTracedPackets = 40;
constexpr std::size_t kCopiedBytes = 4096;

core::Config with_notes(core::Config config, const std::shared_ptr<datapath::PacketRing>& ring) {
  config.decisions = std::make_shared<engine::DecisionNotes>(ring);
  return config;
}

}  // namespace

World::Host::Host(World& world, HostIndex index, const core::Config& core, const HostModel& model,
                  std::uint64_t seed, const core::Secrets& secrets)
    : world_(world),
      index_(index),
      model_(model),
      datapath_(world.network().host(index)),
      filtered_(datapath_),
      ring_(std::make_shared<datapath::PacketRing>(kTracedPackets)),
      traced_(filtered_, ring_, datapath::default_tos()),
      pump_(traced_, with_notes(core, ring_), secrets, *this),
      rng_(seed),
      pauses_{.every = model.pause_every, .length = model.pause_length},
      freezes_{.every = model.freeze_every, .length = model.freeze_length} {}

bool World::Host::Outages::covers(Time now, Rng& rng) {
  if (every == Duration::zero()) return false;
  while (from == kNever || now >= until) {
    from = (from == kNever ? now : until) + exponential(rng, every);
    until = from + exponential(rng, length);
  }
  return now >= from;
}

Time World::Host::next_post(const Flow& flow) const {
  Time next = kNever;
  if (flow.from == index_ && flow.sends_posted < flow.messages.size())
    next = flow.messages[flow.sends_posted].send_at;
  if (flow.to == index_ && flow.receives_posted < flow.messages.size())
    next = std::min(next, flow.messages[flow.receives_posted].receive_at);
  return next;
}

// A post that is due but was not accepted waits for another event; only future times count.
Time World::Host::application_wakes_at(Time now) const {
  Time wake = kNever;
  for (const Flow& flow : world_.ledger_.flows()) {
    const Time next = next_post(flow);
    if (next > now) wake = std::min(wake, next);
  }
  return wake;
}

Time World::Host::wake_at(Time now) {
  if (dead_) return kNever;
  Time wake = std::min({pump_.deadline(now), application_at_, resume_at_});
  if (kicked_ || datapath_.has_packets()) wake = now;
  const bool nic_has_room =
      datapath_.nic().queued_bytes() <= datapath_.config().nic_queue_bytes / 2;
  if (pump_.blocked() && nic_has_room) wake = now;
  if (wake == kNever) return kNever;
  wake = std::max({wake, now, busy_until_, frozen_until_});
  if (freezes_.covers(now, rng_)) wake = std::max(wake, freezes_.until);
  return wake;
}

void World::Host::step(Time now) {
  const bool paused = pauses_.covers(now, rng_);
  kicked_ = false;
  std::size_t packets = pump_.receive(now).packets;
  drain_events(now);
  if (!paused) {
    run_application(now);
    drain_events(now);
  }
  resume_at_ = paused ? pauses_.until : kNever;
  application_at_ = application_wakes_at(now);
  packets += pump_.transmit(now).packets;
  drain_events(now);
  busy_until_ = now + model_.packet_cost * packets;
}

void World::Host::place(const core::Placement& placement) {
  world_.ledger_.place(world_.now(), index_, placement);
}

void World::Host::drain_events(Time now) {
  while (const auto event = pump_.poll_event(now))
    world_.ledger_.on_event(now, index_, *event);
}

void World::Host::run_application(Time now) {
  for (std::size_t i = 0; i < world_.ledger_.flows().size(); ++i) {
    Flow& flow = world_.flow(i);
    if (flow.from == index_) serve_sender(now, i, flow);
    if (flow.to == index_) serve_receiver(now, i, flow);
  }
}

void World::Host::serve_sender(Time now, std::size_t index, Flow& flow) {
  if (flow.send_closed || flow.send_error) return;
  while (flow.sends_posted < flow.messages.size()) {
    Message& message = flow.messages[flow.sends_posted];
    if (message.send_at > now) break;
    const auto request = Ledger::request_id(index, flow.sends_posted);
    const auto source = world_.ledger_.open_source(message);
    // As the engine does with DLCP_COPY.
    const bool copied = source.size() <= kCopiedBytes && message.send_licence.budget_ppm == 0;
    if (!endpoint().post_send(now, flow.send_connection, request, source, message.send_licence,
                              copied ? core::MemoryKind::kCopy : core::MemoryKind::kHost))
      break;
    message.send_posted_at = now;
    ++flow.sends_posted;
  }
  const bool open = endpoint().state(flow.send_connection) == core::ConnectionState::kOpen;
  if (open && flow.close_when_done && flow.sends_done == flow.messages.size())
    world_.close_sender(index);
}

void World::Host::serve_receiver(Time now, std::size_t index, Flow& flow) {
  if (flow.receive_closed || flow.receive_error) return;
  if (!flow.receive_connection && !flow.never_accept) {
    if (const auto accepted = endpoint().accept(flow.listener))
      world_.ledger_.on_accept(index, *accepted);
  }
  if (!flow.receive_connection || flow.receive_error) return;
  while (flow.receives_posted < flow.messages.size()) {
    const std::size_t number = flow.receives_posted;
    Message& message = flow.messages[number];
    if (message.receive_at > now) break;
    const auto buffer = world_.ledger_.open_buffer(index_, index, number);
    const auto request = Ledger::request_id(index, number);
    if (!pump_.post_receive(now, *flow.receive_connection, request, buffer,
                            message.receive_licence))
      break;
    message.receive_posted = true;
    ++flow.receives_posted;
  }
  drain_events(now);
  if (flow.close_when_done && flow.receives_done == flow.messages.size())
    world_.close_receiver(index);
}

}  // namespace dlcp::test
