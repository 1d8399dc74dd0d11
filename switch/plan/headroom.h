// What a lossless priority needs of a port's buffer: the bytes that still
// arrive after a pause frame was sent. The longer the cable and the faster the
// port, the more.
#pragma once

#include <cstdint>

namespace dlcp::fabric {

// A lower bound: what is on the cable both ways, what the peer sends until it
// heeds the frame (IEEE 802.3, 31B.3.7, in quanta of 512 bits), and a packet
// that is on its way on either side. Source: SONiC,
// doc/qos/dynamically-headroom-calculation.md; what an ASIC adds for itself
// (cells, gearboxes) is left out. 0 metres give 0: nothing is known.
std::uint64_t headroom_bytes(std::uint64_t bits_per_second, unsigned cable_metres,
                             std::uint64_t mtu_bytes);

}  // namespace dlcp::fabric
