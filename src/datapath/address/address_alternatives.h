// Further addresses of a host inside the EndpointAddress of one of its devices. Peers try them if
// they cannot reach the listener at the first address. They are encoded as lists of locators of
// other kinds, which decode_device_address ignores.
//
// The layout of a list is that of device_address.h. Kind 3: IPv4 address and UDP port (6 bytes).
// Kind 4: half of an IPv6 address and UDP port (9 bytes; always in pairs).
#pragma once

#include <span>
#include <vector>

#include "datapath/address/device_address.h"
#include "wire/packet.h"

namespace dlcp::datapath {

// Returns `first`, which has only UDP ports, followed by as many of `others`, in order, as fit. One
// port of each is enough, because the answer to the first packet contains all ports. Addresses that
// other hosts cannot use are left out.
wire::EndpointAddress with_alternatives(const DeviceAddress& first,
                                        std::span<const DeviceAddress> others);

// The alternatives in the blob, which comes from the network. A malformed list gives none.
std::vector<DeviceAddress> alternatives_in(const wire::EndpointAddress& blob);

}  // namespace dlcp::datapath
