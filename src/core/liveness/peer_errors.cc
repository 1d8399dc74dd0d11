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
  const std::string what = "the peer refuses the connection: " + refuse.reason;
  if (refuse.cause == wire::Refuse::Cause::kClosed) return {ErrorCode::kRemote, what, kSeeLog};
  return {ErrorCode::kInvalidUsage, what,
          "run the same plugin version on every rank, with settings alike"};
}

Error closed_by_peer(std::string what) {
  return {ErrorCode::kRemote, std::move(what), kSeeLog};
}

Error peer_gone() {
  return {ErrorCode::kRemote, "the peer's host rejects our packets, and nothing answers",
          "either that rank is no longer running, or a firewall rejects UDP ports 49152-65535: see "
          "its log and exit status, and test with `dlcp doctor --peer`"};
}

Error peer_silent(std::string_view did, Duration timeout, std::string_view what) {
  return {ErrorCode::kRemote,
          fmt::format("the peer {} for {} ms while {}", did, milliseconds(timeout), what),
          "check that the rank is alive and that UDP passes in both directions (dlcp doctor "
          "--peer)"};
}

Error peer_stuck(Duration timeout, std::string_view what, std::size_t packet_bytes) {
  return {ErrorCode::kRemote,
          fmt::format("the peer answers, but for {} ms nothing got through to it while {}; packets "
                      "of data have up to {} bytes",
                      milliseconds(timeout), what, packet_bytes),
          "check that the network carries packets of this size, and of the exact class, to the "
          "peer (dlcp doctor --peer)"};
}

}  // namespace dlcp::core
