// Further addresses of a host inside the EndpointAddress of one of its devices: where the same
// listener can be reached if the first address cannot. They stand as lists of locators of other
// kinds, which decode_device_address passes over.
//
// Layout of a list as in device_address.h; kind 3: IPv4 address and UDP port (6 bytes), kind 4:
// half of an IPv6 address and UDP port (9 bytes, always two together).
#pragma once

#include <span>
#include <vector>

#include "datapath/device_address.h"
#include "wire/packet.h"

namespace dlcp::datapath {

// `first`, which has UDP ports alone, with as many of `others`, in order, as there is room for. One
// port of each is kept, as the answer to a first packet brings all. Addresses that mean nothing to
// other hosts are left out.
wire::EndpointAddress with_alternatives(const DeviceAddress& first,
                                        std::span<const DeviceAddress> others);

// Those that are in the blob, which comes from the network: nothing of a malformed list.
std::vector<DeviceAddress> alternatives_in(const wire::EndpointAddress& blob);

}  // namespace dlcp::datapath
