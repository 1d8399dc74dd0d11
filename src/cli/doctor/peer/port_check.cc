#include "cli/doctor/peer/port_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "engine/host/clock.h"
#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

constexpr int kMeetAttempts = 5;
constexpr int kAttempts = 6;
constexpr Duration kPatienceMin = 40ms;

}  // namespace

Result<MarkSocket> ProbeSource::open(datapath::IpFamily family) const {
  datapath::IpAddress any;
  any.family = family;
  auto socket = MarkSocket::open(ip.value_or(any), 0);
  if (socket && ip) socket->send_from(*ip, link);
  return socket;
}

Duration local_clock() {
  return engine::steady_now().time_since_epoch();
}

std::uint64_t random_session() {
  std::random_device random;
  return static_cast<std::uint64_t>(random()) << 32 | random();
}

Result<PortCheck> PortCheck::open(const datapath::IpAddress& peer,
                                  std::span<const std::uint16_t> meeting_ports,
                                  const ProbeSource& from) {
  PortCheck check(peer, from);
  check.session_ = random_session();
  for (const std::uint16_t port : meeting_ports) {
    auto socket = from.open(peer.family);
    if (!socket) return socket.error();
    if (auto connected = socket->connect(datapath::socket_address(peer, port)); !connected)
      return connected.error();
    check.meeting_.push_back(std::move(socket).value());
    check.ports_.push_back(port);
  }
  return check;
}

Status PortCheck::meet() {
  for (int attempt = 0; attempt < kMeetAttempts; ++attempt) {
    for (answering_ = 0; answering_ < meeting_.size(); ++answering_) {
      const Duration begin = local_clock();
      if (!ask(meeting_[answering_], {}, 1)) continue;
      round_trip_ = local_clock() - begin;
      patience_ = std::max(kPatienceMin, 4 * round_trip_);
      return Unit{};
    }
  }
  return Error{ErrorCode::kRemote,
               fmt::format("no answer at UDP port {}{}", fmt::join(ports_, " or "),
                           last_error_ != 0 ? fmt::format(": {}", system_text(last_error_)) : ""),
               "start `dlcp doctor --listen` there; if it runs already, UDP does not pass in "
               "one direction: open 49152-65535 in both directions in every firewall between "
               "the hosts"};
}

std::optional<wire::EchoReply> PortCheck::ask(const MarkSocket& socket, wire::EchoRequest request,
                                              int attempts) {
  if (request.session == 0) request.session = session_;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    request.sequence = ++sequence_;
    request.sent_at_ns = static_cast<std::uint64_t>(local_clock().count());
    wire::encode(request, frame_);
    last_error_ = socket.send(frame_, 0);
    const Duration deadline = local_clock() + patience_;
    for (Duration left = patience_; left.count() > 0; left = deadline - local_clock()) {
      const auto received = socket.receive(buffer_, left);
      if (!received && last_error_ != 0) break;
      if (!received) continue;
      const auto reply = wire::decode_echo_reply(std::span(buffer_).first(received->size));
      if (reply && reply->session == request.session && reply->sequence == sequence_) return reply;
    }
  }
  return std::nullopt;
}

std::uint16_t PortCheck::data_port(std::uint16_t path) {
  wire::EchoRequest request;
  request.path = path;
  const auto reply = ask(meeting_[answering_], request, kAttempts);
  return reply ? reply->data_port : 0;
}

std::uint32_t PortCheck::seen(std::uint64_t session, std::uint16_t path) {
  wire::EchoRequest request;
  request.session = session;
  request.path = path;
  const std::uint32_t before = sequence_;
  const auto reply = ask(meeting_[answering_], request, kAttempts);
  const std::uint32_t questions = sequence_ - before;  // counted as probes if they arrived
  return reply && reply->requests_seen > questions ? reply->requests_seen - questions : 0;
}

std::optional<datapath::IpAddress> PortCheck::call(const MarkSocket& called, std::uint16_t path) {
  wire::EchoRequest request;
  request.path = path;
  request.call_port = called.port();
  request.frame_bytes = 2 * wire::kEchoFrameBytesMin;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    (void)ask(meeting_[answering_], request, 1);
    const Duration deadline = local_clock() + patience_;
    for (Duration left = patience_; left.count() > 0; left = deadline - local_clock()) {
      const auto received = called.receive(buffer_, left);
      const auto reply = received
                             ? wire::decode_echo_reply(std::span(buffer_).first(received->size))
                             : std::nullopt;
      if (reply && reply->session == session_ && reply->path == path)
        return datapath::ip_address_of(received->from.any);
    }
  }
  return std::nullopt;
}

Result<PortsResult> PortCheck::calls(std::size_t ports) {
  PortsResult result;
  for (std::size_t i = 0; i < ports; ++i) {
    auto called = from_.open(peer_.family);
    if (!called) return called.error();
    const auto caller = call(called.value(), static_cast<std::uint16_t>(i));
    (caller ? result.open : result.closed).push_back(called->port());
    if (caller && caller->bytes != peer_.bytes) result.other_sender = caller;
  }
  return result;
}

}  // namespace dlcp::cli
