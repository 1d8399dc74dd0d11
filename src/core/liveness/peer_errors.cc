#include "core/liveness/peer_errors.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace dlcp::core {
namespace {

constexpr const char* kSeeLog = "see the peer's log";

std::int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

Error peer_gave_up(const wire::Reset& reset) {
  return {ErrorCode::kRemote, fmt::format("{}{}", kPeerGaveUp, reset.reason), kSeeLog};
}

Error peer_refuses(const wire::Refuse& refuse) {
  const bool is_closed = refuse.cause == wire::Refuse::Cause::kClosed;
  return {is_closed ? ErrorCode::kRemote : ErrorCode::kInvalidUsage,
          "the peer refuses the connection: " + refuse.reason, kSeeLog};
}

Error closed_by_peer(std::string what) {
  return {ErrorCode::kRemote, std::move(what), kSeeLog};
}

Error peer_gone() {
  return {ErrorCode::kRemote, "the peer's host rejects packets, and the peer does not answer", "",
          PeerFault::kRejects};
}

Error peer_silent(Silence silence, Duration timeout, std::string_view what) {
  return {ErrorCode::kRemote,
          fmt::format("the peer has {} for {} ms while {}",
                      silence == Silence::kNoAnswer ? "not answered" : "been silent",
                      milliseconds(timeout), what),
          "", PeerFault::kSilent};
}

Error peer_stuck(Duration timeout, std::string_view what, std::size_t packet_bytes) {
  return {ErrorCode::kRemote,
          fmt::format("the peer answers, but for {} ms no packet got through to it while {}; "
                      "packets of data have up to {} bytes",
                      milliseconds(timeout), what, packet_bytes),
          "check that the network carries packets of this size and of class exact to the peer "
          "(dlcp doctor --peer)"};
}

Error peer_forgot() {
  return {ErrorCode::kRemote, "the peer answers, but no longer knows this connection",
          "the other rank has probably closed it while the network was down: see its log"};
}

}  // namespace dlcp::core
