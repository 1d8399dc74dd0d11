// Where a device can be reached: one IP address, and behind it locators, each {kind, value}; and
// how that is laid out in the opaque wire::EndpointAddress that travels in handles and HELLO
// frames. The blob comes from the network: decoding believes nothing. All datapaths of a device are
// known by one IP address, as a RoCEv2 GID is one; whoever reads the blob uses the locators he can.
// Another kind is a row of the table in device_address.cc.
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

inline constexpr std::size_t kUdpPortsMax = 16;

enum class LocatorKind : std::uint8_t {
  kUdpPort = 1,    // any of several, none below kUdpPortMin
  kQueuePair = 2,  // RoCE: the number of the one that receives, 24 bits
};

struct Locator {
  LocatorKind kind{};
  std::uint32_t value = 0;

  friend bool operator==(const Locator&, const Locator&) = default;
};

class DeviceAddress {
 public:
  IpAddress ip;

  // At most 16 UDP ports and a queue pair: more have no room.
  void add(LocatorKind kind, std::uint32_t value);
  // By kind; those of one in the order in which they were added.
  std::span<const Locator> locators() const { return std::span(locators_).first(count_); }
  std::span<const Locator> of(LocatorKind kind) const;
  bool has(LocatorKind kind) const { return !of(kind).empty(); }
  // With the locators of this kind alone.
  DeviceAddress only(LocatorKind kind) const;

  friend bool operator==(const DeviceAddress&, const DeviceAddress&) = default;

 private:
  static constexpr std::size_t kLocatorsMax = kUdpPortsMax + 1;  // as many as a blob holds
  std::array<Locator, kLocatorsMax> locators_{};
  std::uint8_t count_ = 0;
};

wire::EndpointAddress encode(const DeviceAddress& address);
// nullopt unless the blob is exactly what encode() gives for a unicast address.
std::optional<DeviceAddress> decode_device_address(const wire::EndpointAddress& blob);
// An address with the locators of both, at the IP address of `first`; of a kind that both have
// those of `first`.
DeviceAddress join(const DeviceAddress& first, const DeviceAddress& second);
// "10.0.0.1:49152(+15)", "[fe80::1%3]:50000"; without UDP "10.0.0.1 queue pair 17"
std::string to_string(const DeviceAddress& address);

}  // namespace dlcp::datapath
