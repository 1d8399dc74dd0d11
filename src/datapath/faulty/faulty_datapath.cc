// The random decisions of a FaultyDatapath: they are made once per packet, when it is offered, and
// always in the same order.
#include "datapath/faulty/faulty_datapath.h"

#include <algorithm>

namespace dlcp::datapath {
namespace {

constexpr std::size_t kPathsMax = 256;
constexpr Duration kReorderHold = 1ms;  // longest delay if no packet overtakes

// Probability that a burst of `burst` losses starts at a packet, so that the share `share` of all
// packets is lost.
double burst_start_chance(double share, double burst) {
  return share <= 0 ? 0 : share / (burst - share * burst + share);
}

}  // namespace

FaultyDatapath::FaultyDatapath(std::unique_ptr<Datapath> inner, const FaultSpec& spec)
    : ForwardingDatapath(*inner),
      owner_(std::move(inner)),
      spec_(spec),
      rng_(spec.seed),
      blackholes_(kPathsMax, false),
      loss_start_(burst_start_chance(spec.drop, spec.burst)) {
  for (const wire::PathIndex path : spec.blackholes)
    blackholes_[path] = true;
  // The share is exact for the existing paths (rounded), not only an average.
  const std::size_t paths = std::clamp<std::size_t>(inner_.limits().paths, 1, kPathsMax);
  const auto open = static_cast<std::size_t>(std::count(
      blackholes_.begin(), blackholes_.begin() + static_cast<std::ptrdiff_t>(paths), false));
  const double share = spec.blackhole_percent / 100;
  std::size_t left =
      std::min(open, static_cast<std::size_t>(static_cast<double>(paths) * share + 0.5));
  while (left > 0) {
    const std::size_t path = rng_.below(paths);
    if (!blackholes_[path]) {
      blackholes_[path] = true;
      --left;
    }
  }
}

std::size_t FaultyDatapath::send(std::span<const wire::TxPacket> packets) {
  if (!flush()) return 0;
  for (const wire::TxPacket& packet : packets)
    apply(packet);
  release_due();
  flush();
  for (std::size_t i = 0; i < ready_.size(); ++i)  // held packets need their own memory
    if (owned_[i] == nullptr) adopt(i, hold(ready_[i]));
  return packets.size();
}

std::size_t FaultyDatapath::receive(Time now, std::span<wire::RxPacket> out) {
  now_ = now;
  release_due();
  flush();
  return inner_.receive(now, out);
}

Time FaultyDatapath::next_release() const {
  Time next = delayed_.empty() ? kNever : delayed_.begin()->first.first;
  for (const Reordered& reordered : reordered_)
    next = std::min(next, reordered.release_at);
  return ready_.empty() ? next : now_;
}

FaultyDatapath::Held FaultyDatapath::hold(const wire::TxPacket& packet) {
  return Held{packet, *packet.destination, {packet.payload.begin(), packet.payload.end()}};
}

bool FaultyDatapath::loses(const wire::TxPacket& packet) {
  if (blackholes_[packet.path]) {
    ++counters_.blackholed;
    return true;
  }
  if (loss_left_ == 0 && rng_.chance(loss_start_)) loss_left_ = spec_.burst;
  if (loss_left_ == 0) return false;
  --loss_left_;
  ++counters_.dropped;
  return true;
}

void FaultyDatapath::apply(const wire::TxPacket& packet) {
  ++counters_.offered;
  if (!loses(packet)) {
    const bool corrupts = rng_.chance(spec_.corrupt);
    const bool duplicates = rng_.chance(spec_.duplicate);
    const bool reorders = rng_.chance(spec_.reorder);
    const bool delays = spec_.delay + spec_.jitter > Duration(0);
    if (!corrupts && !reorders && !delays) {
      ready_.push_back(packet);
      owned_.emplace_back();
    } else {
      Held held = hold(packet);
      if (corrupts) corrupt(held);
      if (reorders) {
        ++counters_.reordered;
        const std::uint64_t overtakers = 1 + rng_.below(spec_.reorder_packets);
        reordered_.push_back(
            {std::move(held), counters_.offered + overtakers, now_ + kReorderHold});
      } else {
        forward(std::move(held));
      }
    }
    if (duplicates) {
      ++counters_.duplicated;
      forward(hold(packet));
    }
  }
  for (std::size_t i = 0; i < reordered_.size();) {
    if (reordered_[i].release_at_packet > counters_.offered) {
      ++i;
      continue;
    }
    forward(std::move(reordered_[i].held));
    reordered_.erase(reordered_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Flips one bit at a random place in the datagram.
void FaultyDatapath::corrupt(Held& held) {
  const std::uint64_t bits = 8 * (held.packet.header_bytes + held.payload.size());
  if (bits == 0) return;
  const std::uint64_t bit = rng_.below(bits);
  const std::size_t index = bit / 8;
  const std::size_t header_bytes = held.packet.header_bytes;
  std::byte& byte =
      index < header_bytes ? held.packet.header[index] : held.payload[index - header_bytes];
  byte ^= std::byte{1} << (bit % 8);
  ++counters_.corrupted;
}

// Passes the packet to the network, after the delay if there is one.
void FaultyDatapath::forward(Held held) {
  const Duration jitter(rng_.below(static_cast<std::uint64_t>(spec_.jitter.count()) + 1));
  const Duration delay = spec_.delay + jitter;
  if (delay == Duration(0)) {
    ready_.emplace_back();
    owned_.emplace_back();
    adopt(ready_.size() - 1, std::move(held));
    return;
  }
  ++counters_.delayed;
  delayed_.emplace(std::pair(now_ + delay, delayed_count_++), std::move(held));
}

// Replaces ready_[index] by a packet with its own memory.
void FaultyDatapath::adopt(std::size_t index, Held held) {
  owned_[index] = std::make_unique<Held>(std::move(held));
  ready_[index] = owned_[index]->packet;
  ready_[index].payload = owned_[index]->payload;
  ready_[index].destination = &owned_[index]->destination;
}

void FaultyDatapath::release_due() {
  for (std::size_t i = 0; i < reordered_.size();) {
    if (reordered_[i].release_at > now_) {
      ++i;
      continue;
    }
    forward(std::move(reordered_[i].held));
    reordered_.erase(reordered_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  while (!delayed_.empty() && delayed_.begin()->first.first <= now_) {
    ready_.emplace_back();
    owned_.emplace_back();
    adopt(ready_.size() - 1, std::move(delayed_.extract(delayed_.begin()).mapped()));
  }
}

// False while the inner datapath has no room for all packets that are ready.
bool FaultyDatapath::flush() {
  if (ready_.empty()) return true;
  const auto taken = static_cast<std::ptrdiff_t>(inner_.send(ready_));
  ready_.erase(ready_.begin(), ready_.begin() + taken);
  owned_.erase(owned_.begin(), owned_.begin() + taken);
  return ready_.empty();
}

}  // namespace dlcp::datapath
