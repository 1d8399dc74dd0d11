// The address of a device: one IP address and locators, each {kind, value}; and its encoding in the
// opaque wire::EndpointAddress of handles and HELLO frames. The blob comes from the network, so
// decoding validates everything. All datapaths of a device share one IP address, since a RoCEv2 GID
// contains one; each reader uses the locators that it supports. A further kind is a row of the
// table in device_address.cc.
//
// Layout, big-endian: family (4 or 6), address (4 or 16 bytes), scope (32 bits), then lists of
// locators, one list per kind: a byte with the kind (lower four bits) and the size of one locator
// in bytes (upper four), a byte with the number of locators, and the locators. Kinds: 1 UDP port (2
// bytes, up to 16), 2 RoCE queue pair (3 bytes, one). Lists of other kinds, from later plugins, are
// ignored.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "datapath/address/ip_address.h"
#include "wire/packet.h"

namespace dlcp::datapath {

// Lower limit of source and destination ports (the dynamic ports of RFC 6335, which RoCEv2 uses for
// entropy). An address with a smaller port is rejected, so that a forged address cannot direct
// packets to a well-known service.
inline constexpr std::uint16_t kUdpPortMin = 49152;

inline constexpr std::size_t kUdpPortsMax = 16;

enum class LocatorKind : std::uint8_t {
  kUdpPort = 1,    // one or more, all at least kUdpPortMin
  kQueuePair = 2,  // RoCE: number of the receiving queue pair, 24 bits
};

struct Locator {
  LocatorKind kind{};
  std::uint32_t value = 0;

  friend bool operator==(const Locator&, const Locator&) = default;
};

class DeviceAddress {
 public:
  IpAddress ip;

  // At most 16 UDP ports and one queue pair; further locators are ignored.
  void add(LocatorKind kind, std::uint32_t value);
  // Sorted by kind; locators of one kind are in the order in which they were added.
  std::span<const Locator> locators() const { return std::span(locators_).first(count_); }
  std::span<const Locator> of(LocatorKind kind) const;
  bool has(LocatorKind kind) const { return !of(kind).empty(); }
  // The same IP address with only the locators of this kind.
  DeviceAddress only(LocatorKind kind) const;

  friend bool operator==(const DeviceAddress&, const DeviceAddress&) = default;

 private:
  static constexpr std::size_t kLocatorsMax = kUdpPortsMax + 1;  // capacity of a blob
  std::array<Locator, kLocatorsMax> locators_{};
  std::uint8_t count_ = 0;
};

wire::EndpointAddress encode(const DeviceAddress& address);
// Returns nullopt unless the blob is exactly the encoding of a unicast address.
std::optional<DeviceAddress> decode_device_address(const wire::EndpointAddress& blob);
// The IP address of `first` with the locators of both. For a kind that both have, only those of
// `first` are used.
DeviceAddress join(const DeviceAddress& first, const DeviceAddress& second);
// Formats "10.0.0.1:49152(+15)", "[fe80::1%3]:50000", or without UDP ports "10.0.0.1 queue pair
// 17".
std::string to_string(const DeviceAddress& address);

}  // namespace dlcp::datapath
