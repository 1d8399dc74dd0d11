#include "datapath/trace/tracing_datapath.h"

#include <utility>

#include "wire/data/data_header.h"

namespace dlcp::datapath {
namespace {

// Only the header of data packets; as much as fits of other frames, which contain no user data.
std::size_t kept_of(std::span<const std::byte> begin) {
  const bool data = begin.size() > 2 && begin[2] == static_cast<std::byte>(wire::FrameType::kData);
  return std::min(begin.size(), data ? wire::data_header_bytes(begin) : TracedPacket::kHeadBytes);
}

// The path that the sender chose; 0 if the packet is not a frame.
wire::PathIndex path_of(std::span<const std::byte> begin) {
  if (const auto data = wire::decode_data(begin)) return data->header.path;
  const auto head = wire::decode_head(begin);
  return head ? head->flags : wire::PathIndex{0};
}

void keep(TracedPacket& packet, std::span<const std::byte> begin) {
  packet.path = path_of(begin);
  packet.kept = static_cast<std::uint16_t>(kept_of(begin));
  std::copy_n(begin.begin(), packet.kept, packet.head.begin());
}

}  // namespace

TracingDatapath::TracingDatapath(std::unique_ptr<Datapath> inner, std::shared_ptr<PacketRing> ring,
                                 const ClassMarks& tos)
    : ForwardingDatapath(*inner), owner_(std::move(inner)), ring_(std::move(ring)), tos_(tos) {}

TracingDatapath::TracingDatapath(Datapath& inner, std::shared_ptr<PacketRing> ring,
                                 const ClassMarks& tos)
    : ForwardingDatapath(inner), ring_(std::move(ring)), tos_(tos) {}

std::size_t TracingDatapath::send(std::span<const wire::TxPacket> packets) {
  batch_.clear();
  for (const wire::TxPacket& packet : packets) {
    TracedPacket& traced = batch_.emplace_back();
    traced.at = now_;
    traced.sent = true;
    traced.tos = tos_of(tos_, packet);
    traced.bytes = static_cast<std::uint32_t>(packet.header_bytes + packet.payload.size());
    traced.peer = wire::host_of(*packet.destination);
    // A control frame is in the payload; its header is empty.
    keep(traced, packet.header_bytes > 0 ? std::span(packet.header).first(packet.header_bytes)
                                         : packet.payload);
  }
  const std::size_t taken = inner_.send(packets);
  ring_->add(std::span(batch_).first(taken));
  return taken;
}

std::size_t TracingDatapath::receive(Time now, std::span<wire::RxPacket> out) {
  now_ = now;
  const std::size_t count = inner_.receive(now, out);
  batch_.clear();
  for (const wire::RxPacket& packet : out.first(count)) {
    TracedPacket& traced = batch_.emplace_back();
    traced.at = packet.arrived_at;
    traced.tos = static_cast<std::uint8_t>(packet.dscp << 2 | static_cast<unsigned>(packet.ecn));
    traced.bytes = static_cast<std::uint32_t>(packet.bytes.size());
    traced.peer = packet.source;
    keep(traced, packet.bytes);
  }
  ring_->add(batch_);
  return count;
}

}  // namespace dlcp::datapath
