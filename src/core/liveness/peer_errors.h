// Error texts for connections that end because of the peer, so that both sides of a connection use
// the same words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/result.h"
#include "util/time.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

// The beginning of an error that a peer's RESET caused; the peer's reason follows.
inline constexpr std::string_view kPeerGaveUp = "the peer reported an error: ";

Error peer_gave_up(const wire::Reset& reset);
// The peer refuses: its settings do not match, it cannot take part, or the listener is closed. The
// reason says which; the peer's log has the remedy.
Error peer_refuses(const wire::Refuse& refuse);
// The peer has sent CLOSE too early; `what` is a whole sentence.
Error closed_by_peer(std::string what);
// Nothing arrives from the peer. The engine adds causes and hints, because it has the network's
// reports (engine/opening/peer_trouble). peer_gone(): its host rejects packets.
Error peer_gone();
// Nothing has arrived for `timeout` while `what` was going on.
enum class Silence : std::uint8_t { kNoAnswer, kNoWord };
Error peer_silent(Silence silence, Duration timeout, std::string_view what);
// The peer answers, but no packet of up to `packet_bytes` gets through to it.
Error peer_stuck(Duration timeout, std::string_view what, std::size_t packet_bytes);
// The peer answers for other streams, but does not know this one.
Error peer_forgot();

}  // namespace dlcp::core
