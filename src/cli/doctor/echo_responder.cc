#include "cli/doctor/echo_responder.h"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <span>

namespace dlcp::cli {
namespace {

constexpr std::size_t kSessionsMax = 64;
constexpr int kAnswersPerTurn = 256;

}  // namespace

Result<EchoResponder> EchoResponder::open(std::uint16_t port) {
  EchoResponder responder;
  std::optional<Error> error;
  for (const auto family : {datapath::IpFamily::kV4, datapath::IpFamily::kV6}) {
    datapath::IpAddress any;
    any.family = family;
    auto socket = MarkSocket::open(any, port);
    if (socket) {
      responder.sockets_.push_back(std::move(socket).value());
    } else if (family == datapath::IpFamily::kV4) {
      error = socket.error();
    }
  }
  if (responder.sockets_.empty() || error) return *error;
  return responder;
}

std::size_t EchoResponder::serve(Duration wait) {
  std::vector<pollfd> ready;
  for (const MarkSocket& socket : sockets_)
    ready.push_back({socket.descriptor(), POLLIN, 0});
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  if (::poll(ready.data(), ready.size(), static_cast<int>(ms)) <= 0) return 0;
  const std::uint64_t before = answered_;
  for (const MarkSocket& socket : sockets_) {
    for (int i = 0; i < kAnswersPerTurn && answer(socket); ++i) {
    }
  }
  return answered_ - before;
}

// False when nothing more is waiting.
bool EchoResponder::answer(const MarkSocket& socket) {
  const auto received = socket.receive(buffer_, Duration{0});
  if (!received) return false;
  const auto request = wire::decode_echo_request(std::span(buffer_).first(received->size));
  if (!request) {
    ++strangers_;
    return true;
  }
  wire::EchoReply reply;
  reply.session = request->session;
  reply.sequence = request->sequence;
  reply.frame_bytes = request->reply_bytes;
  reply.requests_seen = count_request(*request);
  reply.sent_at_ns = request->sent_at_ns;
  reply.path = request->path;
  reply.tos_sent = request->tos;
  reply.tos_seen = received->tos;
  wire::encode(reply, reply_);
  (void)socket.send(reply_, request->tos, {&received->from, &received->to, 0});
  ++answered_;
  return true;
}

std::uint32_t EchoResponder::count_request(const wire::EchoRequest& request) {
  if (sessions_.size() >= kSessionsMax && !sessions_.contains(request.session)) {
    sessions_.erase(std::ranges::min_element(
        sessions_, {}, [](const auto& entry) { return entry.second.last_used; }));
  }
  Session& session = sessions_[request.session];
  session.last_used = answered_;
  return ++session.seen[request.path];
}

}  // namespace dlcp::cli
