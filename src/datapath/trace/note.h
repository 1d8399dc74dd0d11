// A note among traced packets, in the form of a frame of our own, which no host ever sends:
//
//  byte 0  magic | version | 255 | 0
//       4  token of the connection that it is about (64 bits), as packets to its peer carry it
//      12  text, to the end
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datapath/trace/packet_ring.h"

namespace dlcp::datapath {

inline constexpr std::byte kNoteType{255};

// `text` is cut where a ring keeps no more.
TracedPacket note(Time at, std::uint64_t token, std::string_view text);

// A traced packet, or a note, as a line: "12.345678 ms > DATA 5d1c.. message 2, 1408+1408 of 9000,
// path 3 number 17"; "-" stands before a note.
std::string text_of(const TracedPacket& packet);

}  // namespace dlcp::datapath
