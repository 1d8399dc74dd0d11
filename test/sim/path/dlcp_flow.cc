#include "dlcp_flow.h"

#include <algorithm>
#include <cstring>

#include "secrets.h"

namespace dlcp::test {
namespace {

constexpr std::size_t kMessageBytes = 1 << 20;
constexpr std::size_t kBatch = 64;
constexpr double kCardSpeed = 2;  // times the bottleneck's

// All messages are sent from and into the same memory, and no byte of it is ever touched.
std::vector<std::byte>& memory() {
  static std::vector<std::byte> bytes(kMessageBytes);
  return bytes;
}

wire::EndpointAddress address_of(bool sends) {
  wire::EndpointAddress address;
  address.size = 1;
  address.bytes[0] = sends ? std::byte{1} : std::byte{2};
  return address;
}

}  // namespace

DlcpFlow::DlcpFlow(SharedPath& path, const core::Config& config, std::uint64_t seed)
    : path_(path),
      sender_{core::Endpoint(config, address_of(true), secrets_of(seed)), true},
      receiver_{core::Endpoint(config, address_of(false), secrets_of(seed + 1)), false},
      outgoing_(kBatch) {}

void DlcpFlow::start() {
  const auto listening = receiver_.endpoint.listen(1, 1);
  listener_ = listening.id;
  sending_ = sender_.endpoint.connect(path_.now(), 1, listening.invitation, address_of(false));
  step(sender_);
}

double DlcpFlow::delivered_bytes() {
  return static_cast<double>(receiver_.endpoint.counters()[core::Counter::kBytesReceived]);
}

void DlcpFlow::on_timer() {
  for (End* end : {&sender_, &receiver_}) {
    if (end->wakes_at > path_.now()) continue;
    end->wakes_at = kNever;
    step(*end);
  }
}

void DlcpFlow::on_frame(const PathFrame& frame) {
  // The payload is whatever lies behind the head here.
  static std::vector<std::byte> datagram(std::size_t{64} << 10);
  std::memcpy(datagram.data(), frame.head.data(), frame.head.size());
  End& end = frame.forward ? receiver_ : sender_;
  end.endpoint.on_packet(path_.now(), {.bytes = std::span(datagram).first(frame.bytes),
                                       .arrived_at = path_.now(),
                                       .path = frame.path,
                                       .ecn = frame.marked ? Ecn::kCe : Ecn::kEct0,
                                       .source = {}});
  step(end);
}

void DlcpFlow::serve(End& end) {
  while (end.endpoint.poll_event()) {
  }
  if (end.sends) {
    while (end.endpoint.post_send(path_.now(), sending_, 0, memory())) {
    }
    return;
  }
  if (!receiving_) receiving_ = end.endpoint.accept(listener_);
  if (!receiving_) return;
  while (end.endpoint.post_receive(path_.now(), *receiving_, 0, memory())) {
  }
}

void DlcpFlow::transmit(End& end) {
  for (;;) {
    const std::size_t count = end.endpoint.poll_transmit(path_.now(), outgoing_);
    for (std::size_t i = 0; i < count; ++i) {
      const wire::TxPacket& packet = outgoing_[i];
      auto frame = path_.take();
      frame->flow = this;
      frame->forward = end.sends;
      frame->path = packet.path;
      frame->sent_at = path_.now();
      frame->bytes = static_cast<std::uint32_t>(packet.header_bytes + packet.payload.size());
      frame->data = packet.payload.data() >= memory().data() &&
                    packet.payload.data() < memory().data() + memory().size();
      frame->head.assign(packet.header.begin(), packet.header.begin() + packet.header_bytes);
      if (!frame->data) {
        frame->head.insert(frame->head.end(), packet.payload.begin(), packet.payload.end());
      }
      const double bits = (frame->bytes + 66) * 8.0;
      end.card_free_at =
          std::max(end.card_free_at, path_.now()) +
          Duration(static_cast<std::int64_t>(
              bits / (kCardSpeed * std::max(path_.config().rate, path_.config().rate_then)) * 1e9));
      path_.send(end.card_free_at, std::move(frame));
    }
    if (count < outgoing_.size()) return;
  }
}

void DlcpFlow::step(End& end) {
  if (end.endpoint.next_timeout() <= path_.now()) end.endpoint.on_timeout(path_.now());
  serve(end);
  transmit(end);
  const Time next = end.endpoint.next_timeout();
  if (next < end.wakes_at) {
    end.wakes_at = next;
    path_.call(next, *this);
  }
}

}  // namespace dlcp::test
