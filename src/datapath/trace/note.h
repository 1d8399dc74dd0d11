// A note among traced packets. It has the form of a DLCP frame whose type is never sent:
//
//  byte 0  magic | version | 255 | 0
//       4  token of the connection concerned (64 bits), as in packets to its peer
//      12  text, to the end
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datapath/trace/packet_ring.h"

namespace dlcp::datapath {

inline constexpr std::byte kNoteType{255};

// `text` is truncated to what a ring keeps.
TracedPacket note(Time at, std::uint64_t token, std::string_view text);

// A traced packet or note as a line: "12.345678 ms > DATA 5d1c.. message 2, 1408+1408 of 9000, path
// 3 number 17". A note begins with "-".
std::string text_of(const TracedPacket& packet);

}  // namespace dlcp::datapath
