#include "cli/doctor/path/echo_responder.h"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace dlcp::cli {
namespace {

constexpr std::size_t kSessionsMax = 64;
constexpr std::size_t kNewcomersMax = 64;
constexpr int kAnswersPerTurn = 256;
constexpr std::size_t kDataPorts = 16;
constexpr std::size_t kCallingPorts = 4;

}  // namespace

Result<EchoResponder::Family> EchoResponder::open_family(datapath::IpFamily family,
                                                         std::span<const std::uint16_t> ports) {
  datapath::IpAddress any;
  any.family = family;
  Family opened;
  for (const std::uint16_t port : ports) {
    auto socket = MarkSocket::open(any, port);
    if (!socket) return socket.error();
    opened.meeting.push_back(std::move(socket).value());
  }
  for (auto [sockets, count] :
       {std::pair(&opened.data, kDataPorts), std::pair(&opened.calling, kCallingPorts)}) {
    for (std::size_t i = 0; i < count; ++i) {
      auto socket = MarkSocket::open(any, 0);
      if (!socket) return socket.error();
      sockets->push_back(std::move(socket).value());
    }
  }
  return opened;
}

Result<EchoResponder> EchoResponder::open(std::span<const std::uint16_t> ports) {
  EchoResponder responder;
  if (auto devices = devices_of_this_host()) responder.devices_ = std::move(devices).value();
  for (const auto family : {datapath::IpFamily::kV4, datapath::IpFamily::kV6}) {
    auto opened = open_family(family, ports);
    if (opened)
      responder.families_.push_back(std::move(opened).value());
    else if (family == datapath::IpFamily::kV4)
      return opened.error();
  }
  return responder;
}

std::vector<const MarkSocket*> EchoResponder::answering(const Family& family) const {
  std::vector<const MarkSocket*> sockets;
  for (const auto* some : {&family.meeting, &family.data})
    for (const MarkSocket& socket : *some)
      sockets.push_back(&socket);
  return sockets;
}

std::size_t EchoResponder::serve(Duration wait) {
  std::vector<pollfd> ready;
  for (const Family& family : families_)
    for (const MarkSocket* socket : answering(family))
      ready.push_back({socket->descriptor(), POLLIN, 0});
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  if (::poll(ready.data(), ready.size(), static_cast<int>(ms)) <= 0) return 0;
  const std::uint64_t before = answered_;
  for (const Family& family : families_) {
    for (const MarkSocket* socket : answering(family)) {
      for (int i = 0; i < kAnswersPerTurn && answer(family, *socket); ++i) {
      }
    }
  }
  return answered_ - before;
}

// False if no datagram is waiting.
bool EchoResponder::answer(const Family& family, const MarkSocket& socket) {
  const auto received = socket.receive(buffer_, Duration{0});
  if (!received) return false;
  const auto request = wire::decode_echo_request(std::span(buffer_).first(received->size));
  if (!request) {
    if (!send_devices(socket, *received)) ++invalid_requests_;
    return true;
  }
  wire::EchoReply reply;
  reply.session = request->session;
  reply.sequence = request->sequence;
  reply.frame_bytes = request->reply_bytes;
  reply.requests_seen = count_request(*request, received->from);
  reply.sent_at_ns = request->sent_at_ns;
  reply.path = request->path;
  reply.tos_sent = request->tos;
  reply.tos_seen = received->tos;
  reply.data_port = family.data[request->path % family.data.size()].port();
  wire::encode(reply, reply_);
  (void)socket.send(reply_, request->tos, {&received->from, &received->to, 0});
  if (request->call_port != 0) call(family, *request, *received);
  ++answered_;
  return true;
}

// False if the datagram is not a device question.
bool EchoResponder::send_devices(const MarkSocket& socket, const MarkSocket::Received& received) {
  const auto session = decode_device_question(std::span(buffer_).first(received.size));
  const auto from = datapath::ip_address_of(received.from.any);
  if (!session || !from) return false;
  const std::uint16_t port =
      ntohs(from->family == datapath::IpFamily::kV4 ? received.from.v4.sin_port
                                                    : received.from.v6.sin6_port);
  const auto answer = encode_device_answer(*session, {*from, port, devices_}, received.size);
  (void)socket.send(answer, 0, {&received.from, &received.to, 0});
  return true;
}

// Sends reply_ again, from a socket that receives no probes.
void EchoResponder::call(const Family& family, const wire::EchoRequest& request,
                         const MarkSocket::Received& received) {
  const auto ip = datapath::ip_address_of(received.from.any);
  if (!ip) return;
  const auto to = datapath::socket_address(*ip, request.call_port);
  const MarkSocket& socket = family.calling[request.path % family.calling.size()];
  (void)socket.send(reply_, request.tos, {&to, &received.to, 0});
}

std::uint32_t EchoResponder::count_request(const wire::EchoRequest& request,
                                           const datapath::SocketAddress& from) {
  if (!sessions_.contains(request.session)) {
    if (sessions_.size() >= kSessionsMax) {
      sessions_.erase(std::ranges::min_element(
          sessions_, {}, [](const auto& entry) { return entry.second.last_used; }));
    }
    const auto ip = datapath::ip_address_of(from.any);
    if (ip && newcomers_.size() < kNewcomersMax) newcomers_.push_back(datapath::to_string(*ip));
  }
  Session& session = sessions_[request.session];
  session.last_used = answered_;
  return ++session.seen[request.path];
}

}  // namespace dlcp::cli
