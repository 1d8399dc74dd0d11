// What users are told when a connection ends because of its peer: one place, so that both sides of
// a connection say the same of the same thing.
#pragma once

#include <cstddef>
#include <cstdint>
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
// Nothing arrives from the peer. Causes and hints are added by the engine, which knows what the
// network reports (engine/peer_trouble). Its host rejects packets:
Error peer_gone();
// Or nothing has come for `timeout` while `what` was going on.
enum class Silence : std::uint8_t { kNoAnswer, kNoWord };
Error peer_silent(Silence silence, Duration timeout, std::string_view what);
// Whether the error, or one that begins with it, is of peer_gone(), or of either of the two.
bool is_rejection(const Error& error);
bool is_silence(const Error& error);
// It answers, but none of our packets of up to `packet_bytes` gets through.
Error peer_stuck(Duration timeout, std::string_view what, std::size_t packet_bytes);

}  // namespace dlcp::core
