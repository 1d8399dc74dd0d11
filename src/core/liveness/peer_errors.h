// What users are told when a connection ends because of its peer: one place, so that both sides of
// a connection say the same of the same thing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "util/result.h"
#include "util/time.h"
#include "wire/control_frame.h"

namespace dlcp::core {

// How an error begins that a peer's RESET caused; the peer's reason follows.
inline constexpr std::string_view kPeerGaveUp = "the peer gave up: ";

Error peer_gave_up(const wire::Reset& reset);
// The peer cannot work with us, or the listener is closed, for the reason that it gives.
Error peer_refuses(const wire::Refuse& refuse);
// The peer has said CLOSE too early; `what` is a whole sentence.
Error closed_by_peer(std::string what);
// The peer's host rejects our packets: its process has ended, or a firewall stands before it.
Error peer_gone();
// It has not been heard for `timeout` while `what` was going on. `did`: what the peer does then,
// "has not answered".
Error peer_silent(std::string_view did, Duration timeout, std::string_view what);
// It answers, but none of our packets of up to `packet_bytes` gets through.
Error peer_stuck(Duration timeout, std::string_view what, std::size_t packet_bytes);

}  // namespace dlcp::core
