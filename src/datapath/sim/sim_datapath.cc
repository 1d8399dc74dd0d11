#include "datapath/sim/sim_datapath.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "util/hash/crc32c.h"

namespace dlcp::datapath::sim {
namespace {

// Cost of a queued datagram beyond its bytes, as counted by a kernel.
constexpr std::size_t kQueuedOverheadBytes = 256;

struct Place {
  std::uint32_t host = 0;  // index + 1, because the address 0 belongs to no host
  std::uint32_t paths = 0;
};
constexpr std::byte kIpVersion{4};

std::optional<Place> place_of(const wire::EndpointAddress& address) {
  Place place;
  if (address.size != 1 + sizeof place || address.bytes[0] != kIpVersion) return std::nullopt;
  std::memcpy(&place, address.bytes.data() + 1, sizeof place);
  if (place.paths == 0 || place.paths > 256) return std::nullopt;
  return place;
}

PortConfig nic_port(const HostConfig& config) {
  PortConfig port;
  port.queue_bytes = config.nic_queue_bytes;
  port.by_class = false;
  return port;
}

}  // namespace

wire::EndpointAddress make_address(HostIndex host, std::size_t paths) {
  const Place place{host + 1, static_cast<std::uint32_t>(paths)};
  wire::EndpointAddress address;
  address.bytes[0] = kIpVersion;
  std::memcpy(address.bytes.data() + 1, &place, sizeof place);
  address.size = 1 + sizeof place;
  return address;
}

std::optional<HostIndex> host_at(const wire::EndpointAddress& address) {
  const auto place = place_of(address);
  return place ? std::optional(place->host - 1) : std::nullopt;
}

SimDatapath::SimDatapath(EventQueue& events, HostIndex index, const HostConfig& config,
                         EventSink& first_hop, std::uint64_t seed, std::uint64_t& delivery_hash)
    : events_(events),
      index_(index),
      config_(config),
      address_(make_address(index, config.paths)),
      nic_(events, first_hop, nic_port(config), config.link, seed),
      delivery_hash_(delivery_hash) {
  if (!config.card) return;
  placer_ = std::make_unique<SimPlacer>(events, nic_, index, config.paths,
                                        config.mtu - kIpUdpBytes - kPlacedHeadBytes, *config.card,
                                        seed + 1);
}

Limits SimDatapath::limits() const {
  Limits limits;
  limits.datagram_bytes_max = config_.mtu - kIpUdpBytes;
  limits.paths = config_.paths;
  limits.receive_capacity_bytes = config_.receive_queue_bytes / 2;
  limits.can_unmark = true;
  return limits;
}

std::size_t SimDatapath::send(std::span<const wire::TxPacket> packets) {
  std::size_t taken = 0;
  for (const auto& packet : packets) {
    const auto place = place_of(*packet.destination);
    const std::size_t size = packet.header_bytes + packet.payload.size();
    if (!place || size + kIpUdpBytes > config_.mtu) {
      ++counters_.refused;
      ++taken;
      continue;
    }
    if (!nic_.has_room(size + kIpUdpBytes + kEthernetBytes)) break;
    const auto& row = row_of(packet.traffic_class);
    auto frame = std::make_unique<Frame>();
    frame->bytes.resize(size);
    std::memcpy(frame->bytes.data(), packet.header.data(), packet.header_bytes);
    if (!packet.payload.empty()) {
      std::memcpy(frame->bytes.data() + packet.header_bytes, packet.payload.data(),
                  packet.payload.size());
    }
    frame->source = index_;
    frame->source_path = packet.path;
    frame->destination = place->host - 1;
    frame->destination_path = static_cast<wire::PathIndex>(packet.path % place->paths);
    frame->dscp = packet.unmarked ? 0 : row.dscp;
    frame->ecn = packet.unmarked ? Ecn::kNotEct : row.ecn;
    nic_.enqueue(events_.now(), std::move(frame));
    ++taken;
  }
  return taken;
}

std::size_t SimDatapath::receive(Time, std::span<wire::RxPacket> out) {
  handed_out_.clear();
  const std::size_t count = std::min(out.size(), waiting_.size());
  for (std::size_t i = 0; i < count; ++i) {
    FramePtr frame = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= frame->bytes.size() + kQueuedOverheadBytes;
    out[i] = {.bytes = frame->bytes,
              .arrived_at = frame->arrived_at,
              .ecn = frame->ecn,
              .dscp = frame->dscp,
              .source = wire::host_of(make_address(frame->source, 1))};
    handed_out_.push_back(std::move(frame));
  }
  return count;
}

void SimDatapath::on_event(Time now, FramePtr frame) {
  if (frame->placed) {
    if (placer_) placer_->on_event(now, std::move(frame));
    return;
  }
  const std::size_t size = frame->bytes.size() + kQueuedOverheadBytes;
  const bool fits = waiting_bytes_ + size <= config_.receive_queue_bytes;
  delivery_hash_ = mix(delivery_hash_, static_cast<std::uint64_t>(ns_of(now)));
  delivery_hash_ = mix(delivery_hash_, std::uint64_t{index_} << 32 | crc32c(frame->bytes));
  delivery_hash_ = mix(delivery_hash_, std::uint64_t{frame->destination_path} << 16 |
                                           static_cast<std::uint64_t>(frame->ecn) << 8 |
                                           static_cast<std::uint64_t>(fits));
  if (!fits) {
    ++counters_.receive_dropped;
    return;
  }
  ++counters_.delivered;
  waiting_bytes_ += size;
  frame->arrived_at = now;
  waiting_.push_back(std::move(frame));
}

}  // namespace dlcp::datapath::sim
