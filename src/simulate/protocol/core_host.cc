#include "simulate/protocol/core_host.h"

#include <algorithm>
#include <utility>

namespace dlcp::simulate {
namespace {

core::Config completed(core::Config config, const datapath::Limits& limits) {
  config.datagram_bytes_max = limits.datagram_bytes_max;
  config.paths = limits.paths;
  config.burst_packets_max = 1;  // every packet may take another path
  config.receive_capacity_bytes = limits.receive_capacity_bytes;
  return config;
}

core::Secrets secrets_of(std::uint64_t seed) {
  core::Secrets secrets;
  secrets.own = {seed, 1};
  secrets.listeners = {seed, 2};
  return secrets;
}

}  // namespace

CoreHost::CoreHost(Fabric& fabric, PacketPool& pool, PhantomMemory& memory, Scratch& scratch,
                   HostIndex host, const HostPlan& plan, core::Config config, Duration packet_cost,
                   std::uint64_t seed, Listener& listener)
    : events_(fabric.events()),
      listener_(listener),
      index_(host),
      datapath_(fabric, pool, memory, scratch, host, plan),
      pump_(datapath_, completed(std::move(config), datapath_.limits()), secrets_of(seed), *this),
      cursor_(std::size_t{host} * 1021),  // hosts send different gradients at the same time
      packet_cost_(packet_cost) {
  fabric.attach(host, *this);
  fabric.card(host).set_feeder(*this, plan.card_bytes / 2);
}

void CoreHost::on_event(Time now, PacketPtr packet) {
  if (packet != nullptr) {
    datapath_.take(now, std::move(packet));
    if (now < busy_until_) {
      sleep(now);
      return;
    }
  } else {
    if (wakes_at_ <= now) wakes_at_ = kNever;
    const Time due = std::min(pump_.deadline(now), datapath_.next_arrival());
    if (std::max(due, busy_until_) > now) {
      sleep(now);
      return;
    }
  }
  step(now);
}

void CoreHost::step(Time now) {
  if (now < busy_until_) {
    sleep(now);
    return;
  }
  std::size_t packets = 0;
  for (bool more = true; more;) {
    const auto in = pump_.receive(now);
    drain(now);
    listener_.on_step(now, index_);
    const auto out = pump_.transmit(now);
    drain(now);
    packets += in.packets + out.packets;
    more = packet_cost_ == Duration::zero() && (in.more || out.more);
  }
  busy_until_ = now + packet_cost_ * packets;
  sleep(now);
}

void CoreHost::drain(Time now) {
  while (const auto event = pump_.poll_event(now))
    listener_.on_core_event(now, index_, *event);
}

void CoreHost::sleep(Time now) {
  Time wake = std::min(pump_.deadline(now), datapath_.next_arrival());
  if (wake == kNever) return;
  wake = std::max({wake, now, busy_until_});
  if (wake >= wakes_at_) return;
  wakes_at_ = wake;
  events_.schedule(wake, *this);
}

}  // namespace dlcp::simulate
