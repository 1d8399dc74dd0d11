#include "dlcp_flow.h"

#include <algorithm>
#include <cstring>

#include "secrets.h"

namespace dlcp::test {

using datapath::sim::PhantomPlacer;

namespace {

constexpr std::size_t kMessageBytes = 1 << 20;
constexpr double kCardSpeed = 2;      // times the bottleneck's rate
constexpr std::size_t kIpBytes = 28;  // IP and UDP, which a frame's size does not contain

// All messages are sent from and into the same memory, which is never accessed.
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

DlcpFlow::DlcpFlow(SharedPath& path, const core::Config& config, std::uint64_t seed, bool placed)
    : path_(path),
      sender_(*this, true, config, secrets_of(seed), placed),
      receiver_(*this, false, config, secrets_of(seed + 1), placed) {}

void DlcpFlow::start() {
  const auto listening = receiver_.endpoint().listen(1, 1);
  listener_ = listening.id;
  sending_ =
      sender_.endpoint().connect(path_.now(), 1, listening.invitation, receiver_.local_address());
  sender_.step();
}

double DlcpFlow::delivered_bytes() {
  return static_cast<double>(receiver_.endpoint().counters()[core::Counter::kBytesReceived]);
}

void DlcpFlow::on_timer() {
  sender_.on_timer();
  receiver_.on_timer();
}

void DlcpFlow::on_frame(const PathFrame& frame) {
  End& end = frame.forward ? receiver_ : sender_;
  if (frame.placed) {
    PhantomPlacer::Head head;
    std::memcpy(&head, frame.head.data(), sizeof head);
    end.placer()->take(path_.now(), head);
    end.step();
    return;
  }
  // The bytes behind the head serve as payload.
  static std::vector<std::byte> datagram(std::size_t{64} << 10);
  std::memcpy(datagram.data(), frame.head.data(), frame.head.size());
  end.pump().on_packet(path_.now(), {.bytes = std::span(datagram).first(frame.bytes),
                                     .arrived_at = path_.now(),
                                     .ecn = frame.marked ? Ecn::kCe : Ecn::kEct0,
                                     .source = {}});
  end.step();
}

DlcpFlow::End::End(DlcpFlow& flow, bool sends, const core::Config& config,
                   const core::Secrets& secrets, bool placed)
    : flow_(flow),
      sends_(sends),
      address_(address_of(sends)),
      placer_(!placed ? nullptr
                      : std::make_unique<PhantomPlacer>(
                            config.paths,
                            [this](const wire::EndpointAddress&, const PhantomPlacer::Head& head) {
                              auto frame = frame_of(
                                  PhantomPlacer::kHeaderBytes - kIpBytes + head.bytes, head.path);
                              frame->data = frame->placed = true;
                              frame->head.resize(sizeof head);
                              std::memcpy(frame->head.data(), &head, sizeof head);
                              emit(std::move(frame));
                              return true;
                            })),
      pump_(*this, config, secrets, *this) {}

void DlcpFlow::End::on_timer() {
  if (wakes_at_ > flow_.path_.now()) return;
  wakes_at_ = kNever;
  step();
}

void DlcpFlow::End::step() {
  const Time now = flow_.path_.now();
  pump_.receive(now);  // runs its timers
  serve();
  while (pump_.transmit(now).more) {
  }
  Time next = pump_.deadline(now);
  if (placer_ != nullptr) next = std::max(std::min(next, placer_->next_report()), now);
  if (next < wakes_at_) {
    wakes_at_ = next;
    flow_.path_.call(next, flow_);
  }
}

void DlcpFlow::End::serve() {
  const Time now = flow_.path_.now();
  while (pump_.poll_event(now)) {
  }
  if (sends_) {
    while (endpoint().post_send(now, flow_.sending_, 0, memory())) {
    }
    return;
  }
  auto& connection = flow_.receiving_;
  if (!connection) connection = endpoint().accept(flow_.listener_);
  if (!connection) return;
  while (pump_.post_receive(now, *connection, 0, memory(), {})) {
  }
}

std::unique_ptr<PathFrame> DlcpFlow::End::frame_of(std::size_t bytes, wire::PathIndex path) {
  auto frame = flow_.path_.take();
  frame->flow = &flow_;
  frame->forward = sends_;
  frame->path = path;
  frame->sent_at = flow_.path_.now();
  frame->bytes = static_cast<std::uint32_t>(bytes);
  return frame;
}

void DlcpFlow::End::emit(std::unique_ptr<PathFrame> frame) {
  SharedPath& path = flow_.path_;
  const double speed = kCardSpeed * std::max(path.config().rate, path.config().rate_then);
  const double bits = (frame->bytes + 38 + kIpBytes) * 8.0;
  card_free_at_ =
      std::max(card_free_at_, path.now()) + Duration(static_cast<std::int64_t>(bits / speed * 1e9));
  path.send(card_free_at_, std::move(frame));
}

std::size_t DlcpFlow::End::send(std::span<const wire::TxPacket> packets) {
  for (const wire::TxPacket& packet : packets) {
    auto frame = frame_of(packet.header_bytes + packet.payload.size(), packet.path);
    frame->data = packet.payload.data() >= memory().data() &&
                  packet.payload.data() < memory().data() + memory().size();
    frame->head.assign(packet.header.begin(), packet.header.begin() + packet.header_bytes);
    if (!frame->data)
      frame->head.insert(frame->head.end(), packet.payload.begin(), packet.payload.end());
    emit(std::move(frame));
  }
  return packets.size();
}

}  // namespace dlcp::test
