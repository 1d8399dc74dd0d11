#include "simulate/protocol/phantom_datapath.h"

#include <algorithm>
#include <cstring>

#include "datapath/sim/sim_datapath.h"

namespace dlcp::simulate {
namespace {

// The cost of a queued datagram beyond its bytes.
constexpr std::size_t kQueuedOverheadBytes = 64;

// Same form as SimDatapath's addresses: a family, then the host's number plus one.
HostIndex host_of_address(const wire::EndpointAddress& address) {
  HostIndex host = 0;
  std::memcpy(&host, address.bytes.data() + 1, sizeof host);
  return host - 1;
}

}  // namespace

PhantomDatapath::PhantomDatapath(Fabric& fabric, PacketPool& pool, PhantomMemory& memory,
                                 Scratch& scratch, HostIndex host, const HostPlan& plan)
    : fabric_(fabric),
      pool_(pool),
      memory_(memory),
      scratch_(scratch),
      host_(host),
      plan_(plan),
      card_(fabric.card(host)),
      address_(datapath::sim::make_address(host, plan.paths)) {
  if (!plan.places) return;
  placer_ = std::make_unique<datapath::sim::PhantomPlacer>(
      plan.paths, [this](const auto& peer, const auto& head) { return emit(peer, head); });
}

datapath::Limits PhantomDatapath::limits() const {
  datapath::Limits limits;
  limits.datagram_bytes_max = plan_.mtu - plan_.ip_bytes;
  limits.paths = plan_.paths;
  limits.receive_capacity_bytes = plan_.receive_bytes / 4 * 3;
  return limits;
}

// A packet of `ip_bytes`, headers included.
PacketPtr PhantomDatapath::packet_to(const wire::EndpointAddress& peer, TrafficClass traffic_class,
                                     wire::PathIndex path, std::size_t ip_bytes) {
  const auto& row = row_of(traffic_class);
  PacketPtr packet = pool_.take();
  packet->source = host_;
  packet->destination = host_of_address(peer);
  packet->wire_bytes = static_cast<std::uint32_t>(ip_bytes + plan_.ethernet_bytes);
  packet->path = path;
  packet->queue = row.queue;
  packet->dscp = row.dscp;
  packet->drop_precedence = row.drop_precedence;
  packet->ecn = row.ecn;
  packet->droppable = row.early == EarlyTreatment::kDrop;
  packet->sent_at = fabric_.events().now();
  return packet;
}

std::size_t PhantomDatapath::send(std::span<const wire::TxPacket> packets) {
  const Time now = fabric_.events().now();
  const std::byte* const begin = memory_.all().data();
  std::size_t taken = 0;
  for (const wire::TxPacket& tx : packets) {
    if (!has_room()) break;
    ++taken;
    const std::size_t size = tx.header_bytes + tx.payload.size();
    if (size + plan_.ip_bytes > plan_.mtu || host_of_address(*tx.destination) >= fabric_.hosts())
      continue;
    const bool phantom = tx.payload.data() >= begin && tx.payload.data() < begin + kPhantomBytes;
    PacketPtr packet = packet_to(*tx.destination, tx.traffic_class, tx.path, size + plan_.ip_bytes);
    packet->bytes.assign(tx.header.data(), tx.header.data() + tx.header_bytes);
    if (phantom)
      packet->phantom_bytes = static_cast<std::uint32_t>(tx.payload.size());
    else
      packet->bytes.insert(packet->bytes.end(), tx.payload.begin(), tx.payload.end());
    card_.enqueue(now, std::move(packet));
  }
  return taken;
}

bool PhantomDatapath::emit(const wire::EndpointAddress& peer,
                           const datapath::sim::PhantomPlacer::Head& head) {
  if (!has_room()) return false;
  PacketPtr packet = packet_to(peer, head.traffic_class, head.path,
                               datapath::sim::PhantomPlacer::kHeaderBytes + head.bytes);
  packet->placed = true;
  packet->bytes.resize(sizeof head);
  std::memcpy(packet->bytes.data(), &head, sizeof head);
  card_.enqueue(fabric_.events().now(), std::move(packet));
  return true;
}

void PhantomDatapath::take(Time now, PacketPtr packet) {
  if (packet->placed) {
    datapath::sim::PhantomPlacer::Head head;
    std::memcpy(&head, packet->bytes.data(), sizeof head);
    if (placer_ != nullptr) placer_->take(now, head);
    return;
  }
  const std::size_t cost = packet->bytes.size() + packet->phantom_bytes + kQueuedOverheadBytes;
  if (waiting_bytes_ + cost > plan_.receive_bytes) {
    ++dropped_;
    return;
  }
  waiting_bytes_ += cost;
  packet->arrived_at = now;
  waiting_.push(std::move(packet));
}

std::size_t PhantomDatapath::receive(Time, std::span<wire::RxPacket> out) {
  handed_out_.clear();
  const std::size_t count = std::min({out.size(), waiting_.size(), Scratch::kSlots});
  for (std::size_t i = 0; i < count; ++i) {
    PacketPtr packet = waiting_.pop();
    const std::size_t size = packet->bytes.size() + packet->phantom_bytes;
    waiting_bytes_ -= size + kQueuedOverheadBytes;
    std::span<const std::byte> datagram = packet->bytes;
    if (packet->phantom_bytes > 0) {
      const auto slot = scratch_.slot(i);
      std::memcpy(slot.data(), packet->bytes.data(), packet->bytes.size());
      datagram = slot.first(size);
    }
    out[i] = {.bytes = datagram,
              .arrived_at = packet->arrived_at,
              .ecn = packet->ecn,
              .dscp = packet->dscp,
              .source = wire::host_of(datapath::sim::make_address(packet->source, 1))};
    handed_out_.push_back(std::move(packet));
  }
  return count;
}

}  // namespace dlcp::simulate
