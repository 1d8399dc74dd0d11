// Buffer that a lossless priority needs at a port: the bytes that still arrive after a pause frame
// was sent. It grows with the cable length and the port speed.
#pragma once

#include <cstdint>

namespace dlcp::fabric {

// A lower bound: the bytes on the cable in both directions, the bytes that the peer sends until it
// obeys the frame (IEEE 802.3, 31B.3.7, in quanta of 512 bits), and one packet in transmission on
// either side. Source: SONiC, doc/qos/dynamically-headroom-calculation.md. An ASIC's own additions
// (cells, gearboxes) are left out. Returns 0 for 0 metres, as the length is unknown.
std::uint64_t headroom_bytes(std::uint64_t bits_per_second, unsigned cable_metres,
                             std::uint64_t mtu_bytes);

}  // namespace dlcp::fabric
