// Where a device can be reached: one IP address, up to 16 UDP ports, a RoCE queue pair, or both;
// and how that is laid out in the opaque wire::EndpointAddress that travels in handles and HELLO
// frames. The blob comes from the network: decoding believes nothing. Both datapaths of a device
// are known by one IP address, as a RoCEv2 GID is one; whoever reads the blob uses the part he can.
//
// Layout: family (4 or 6), address (4 or 16 bytes), scope (32 bits), then lists of locators, each
// of one kind: a byte that says which kind (lower four bits) and how many bytes one takes (upper
// four), a byte that says how many there are, and they themselves; all big-endian. Kinds: 1 UDP
// port (2 bytes, up to 16), 2 RoCE queue pair (3 bytes, one). Lists of other kinds, of later
// plugins, are passed over.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "datapath/ip_address.h"
#include "wire/packet.h"

namespace dlcp::datapath {

// Source and destination ports alike are at least this (RFC 6335 dynamic ports; what RoCEv2 uses
// for entropy). An address with a smaller port is refused, so nobody can point us at a known
// service.
inline constexpr std::uint16_t kUdpPortMin = 49152;

struct DeviceAddress {
  static constexpr std::size_t kPortsMax = 16;

  IpAddress ip;
  std::array<std::uint16_t, kPortsMax> ports{};  // the first port_count are used
  std::uint8_t port_count = 0;                   // 0..kPortsMax
  std::uint32_t queue_pair = 0;  // number of the one that receives, 24 bits; 0: no RoCE

  friend bool operator==(const DeviceAddress&, const DeviceAddress&) = default;
};

wire::EndpointAddress encode(const DeviceAddress& address);
// nullopt unless the blob is exactly what encode() gives for a unicast address.
std::optional<DeviceAddress> decode_device_address(const wire::EndpointAddress& blob);
// An address with the locators of both, at the IP address of `first`.
DeviceAddress join(const DeviceAddress& first, const DeviceAddress& second);
// The same without those of the other kind.
DeviceAddress udp_part(DeviceAddress address);
DeviceAddress roce_part(DeviceAddress address);
// "10.0.0.1:49152(+15)", "[fe80::1%3]:50000"; without UDP "10.0.0.1 queue pair 17"
std::string to_string(const DeviceAddress& address);

}  // namespace dlcp::datapath
