#include "world_host.h"

#include <algorithm>
#include <cmath>

namespace dlcp::test {
namespace {

constexpr std::size_t kBatch = 64;

Duration exponential(Rng& rng, Duration mean) {
  return Duration(
      static_cast<std::int64_t>(-std::log(1 - rng.unit()) * static_cast<double>(mean.count())) + 1);
}

}  // namespace

World::Host::Host(World& world, HostIndex index, const core::Config& core, const HostModel& model,
                  std::uint64_t seed, const core::Secrets& secrets)
    : world_(world),
      index_(index),
      model_(model),
      datapath_(world.network().host(index)),
      endpoint_(core, datapath_.local_address(), secrets),
      rng_(seed),
      pauses_{.every = model.pause_every, .length = model.pause_length},
      freezes_{.every = model.freeze_every, .length = model.freeze_length},
      received_(kBatch),
      outgoing_(kBatch) {}

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
  if (flow.from == index_ && flow.sends_posted < flow.messages.size()) {
    next = flow.messages[flow.sends_posted].send_at;
  }
  if (flow.to == index_ && flow.receives_posted < flow.messages.size()) {
    next = std::min(next, flow.messages[flow.receives_posted].receive_at);
  }
  return next;
}

// A post that is due and was not taken waits for something else to happen; only the future counts.
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
  // What is due and could not go out waits for room in the NIC, not for time.
  Time timer = endpoint_.next_timeout();
  if (nic_was_full_ && timer <= now) timer = kNever;
  Time wake = std::min({timer, application_at_, resume_at_});
  if (kicked_ || datapath_.has_packets()) wake = now;
  if (nic_was_full_ && datapath_.nic().queued_bytes() <= datapath_.config().nic_queue_bytes / 2) {
    wake = now;
  }
  if (wake == kNever) return kNever;
  wake = std::max({wake, now, busy_until_, frozen_until_});
  if (freezes_.covers(now, rng_)) wake = std::max(wake, freezes_.until);
  return wake;
}

void World::Host::step(Time now) {
  const bool paused = pauses_.covers(now, rng_);
  kicked_ = false;
  std::size_t packets = receive(now);
  if (endpoint_.next_timeout() <= now) endpoint_.on_timeout(now);
  drain_events(now);
  if (!paused) {
    run_application(now);
    drain_events(now);
  }
  resume_at_ = paused ? pauses_.until : kNever;
  application_at_ = application_wakes_at(now);
  packets += transmit(now);
  busy_until_ = now + model_.packet_cost * packets;
}

void World::Host::copy_placements(Time now) {
  for (const auto& placement : endpoint_.placements()) {
    world_.ledger_.place(now, index_, placement);
  }
}

void World::Host::take(Time now, const wire::RxPacket& packet) {
  endpoint_.on_packet(now, packet);
  copy_placements(now);
}

std::size_t World::Host::receive(Time now) {
  const std::size_t count = datapath_.receive(now, received_);
  for (std::size_t i = 0; i < count; ++i) {
    if (!world_.filter_) {
      take(now, received_[i]);
      continue;
    }
    wire::RxPacket packet = received_[i];
    std::vector<std::byte> bytes(packet.bytes.begin(), packet.bytes.end());
    world_.keys_.see(bytes);
    if (!world_.filter_(index_, bytes)) continue;
    packet.bytes = bytes;
    take(now, packet);
  }
  return count;
}

// Asks for no more than the NIC will take, so that nothing the endpoint has handed out has to wait
// here while its memory goes back to the application.
std::size_t World::Host::transmit(Time now) {
  std::size_t total = 0;
  for (;;) {
    const auto& config = datapath_.config();
    const std::size_t frame = config.mtu + datapath::sim::kEthernetBytes;
    const std::size_t queued = datapath_.nic().queued_bytes();
    const std::size_t room =
        (config.nic_queue_bytes - std::min(config.nic_queue_bytes, queued)) / frame;
    nic_was_full_ = room == 0;
    if (room == 0) return total;
    const std::size_t asked = std::min(room, kBatch);
    const std::size_t count = endpoint_.poll_transmit(now, std::span(outgoing_).first(asked));
    if (count > asked) throw Violation("poll_transmit filled more than it was given");
    if (datapath_.send(std::span(outgoing_).first(count)) != count) {
      throw Violation("packets larger than the MTU");
    }
    total += count;
    if (count < asked) return total;
  }
}

void World::Host::drain_events(Time now) {
  while (const auto event = endpoint_.poll_event())
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
    if (!endpoint_.post_send(now, flow.send_connection, request, source, message.send_licence))
      break;
    message.send_posted_at = now;
    ++flow.sends_posted;
  }
  const bool open = endpoint_.state(flow.send_connection) == core::ConnectionState::kOpen;
  if (open && flow.close_when_done && flow.sends_done == flow.messages.size()) {
    world_.close_sender(index);
  }
}

void World::Host::serve_receiver(Time now, std::size_t index, Flow& flow) {
  if (flow.receive_closed || flow.receive_error) return;
  if (!flow.receive_connection && !flow.never_accept) {
    if (const auto accepted = endpoint_.accept(flow.listener)) {
      world_.ledger_.on_accept(index, *accepted);
    }
  }
  if (!flow.receive_connection || flow.receive_error) return;
  while (flow.receives_posted < flow.messages.size()) {
    const std::size_t number = flow.receives_posted;
    Message& message = flow.messages[number];
    if (message.receive_at > now) break;
    const auto buffer = world_.ledger_.open_buffer(index_, index, number);
    const auto request = Ledger::request_id(index, number);
    if (!endpoint_.post_receive(now, *flow.receive_connection, request, buffer,
                                message.receive_licence))
      break;
    message.receive_posted = true;
    ++flow.receives_posted;
    copy_placements(now);
  }
  drain_events(now);
  if (flow.close_when_done && flow.receives_done == flow.messages.size()) {
    world_.close_receiver(index);
  }
}

}  // namespace dlcp::test
