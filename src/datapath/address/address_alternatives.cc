#include "datapath/address/address_alternatives.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace dlcp::datapath {
namespace {

constexpr std::size_t kListHead = 2;
constexpr std::size_t kScopeBytes = 4;

struct ListKind {
  IpFamily family;
  std::uint8_t kind;
  std::size_t ip_bytes;
  std::size_t unit_bytes;  // of one unit, as in the list's head
  std::size_t units;       // units per address
};
constexpr std::array<ListKind, 2> kLists = {ListKind{IpFamily::kV4, 3, 4, 6, 1},
                                            ListKind{IpFamily::kV6, 4, 16, 9, 2}};

DeviceAddress with_one_port(const DeviceAddress& address) {
  DeviceAddress alone;
  alone.ip = address.ip;
  alone.add(LocatorKind::kUdpPort, address.of(LocatorKind::kUdpPort).front().value);
  return alone;
}

void append(wire::EndpointAddress& blob, std::uint8_t byte) {
  blob.bytes[blob.size++] = std::byte{byte};
}

void append_list(wire::EndpointAddress& blob, const ListKind& list,
                 std::span<const DeviceAddress> others) {
  std::vector<const DeviceAddress*> fitting;
  std::size_t room = wire::EndpointAddress::kMaxBytes - blob.size;
  for (const DeviceAddress& other : others) {
    const std::size_t needed =
        list.unit_bytes * list.units + (fitting.empty() ? kListHead : std::size_t{0});
    if (other.ip.family != list.family || other.ip.is_link_scoped() || other.ip.is_loopback() ||
        !other.has(LocatorKind::kUdpPort) || needed > room)
      continue;
    fitting.push_back(&other);
    room -= needed;
  }
  if (fitting.empty()) return;
  append(blob, static_cast<std::uint8_t>(list.unit_bytes << 4 | list.kind));
  append(blob, static_cast<std::uint8_t>(fitting.size() * list.units));
  for (const DeviceAddress* other : fitting) {
    for (std::size_t i = 0; i < list.ip_bytes; ++i)
      append(blob, other->ip.bytes[i]);
    const std::uint32_t port = other->of(LocatorKind::kUdpPort).front().value;
    append(blob, static_cast<std::uint8_t>(port >> 8 & 0xff));
    append(blob, static_cast<std::uint8_t>(port & 0xff));
  }
}

// Returns nothing if any entry is not an address that a peer may name.
std::vector<DeviceAddress> read_list(std::span<const std::byte> bytes, const ListKind& list) {
  const std::size_t each = list.unit_bytes * list.units;
  std::vector<DeviceAddress> found;
  if (bytes.size() % each != 0) return found;
  for (; !bytes.empty(); bytes = bytes.subspan(each)) {
    DeviceAddress address;
    address.ip.family = list.family;
    for (std::size_t i = 0; i < list.ip_bytes; ++i)
      address.ip.bytes[i] = std::to_integer<std::uint8_t>(bytes[i]);
    const auto port = std::to_integer<std::uint32_t>(bytes[list.ip_bytes]) << 8 |
                      std::to_integer<std::uint32_t>(bytes[list.ip_bytes + 1]);
    if (!address.ip.is_unicast() || address.ip.is_link_scoped() || port < kUdpPortMin) return {};
    address.add(LocatorKind::kUdpPort, port);
    found.push_back(address);
  }
  return found;
}

}  // namespace

wire::EndpointAddress with_alternatives(const DeviceAddress& first,
                                        std::span<const DeviceAddress> others) {
  if (others.empty() || !first.has(LocatorKind::kUdpPort) || first.has(LocatorKind::kQueuePair))
    return encode(first);
  wire::EndpointAddress blob = encode(with_one_port(first));
  for (const ListKind& list : kLists)
    append_list(blob, list, others);
  return blob;
}

std::vector<DeviceAddress> alternatives_in(const wire::EndpointAddress& blob) {
  std::vector<DeviceAddress> all;
  const auto first = decode_device_address(blob);
  if (!first) return all;  // the blob is malformed
  std::span<const std::byte> left =
      std::span(blob.bytes).first(std::min<std::size_t>(blob.size, blob.bytes.size()));
  left = left.subspan(1 + (first->ip.family == IpFamily::kV4 ? 4 : 16) + kScopeBytes);
  while (left.size() >= kListHead) {
    const auto form = std::to_integer<unsigned>(left[0]);
    const std::size_t bytes = (form >> 4) * std::to_integer<std::size_t>(left[1]);
    left = left.subspan(kListHead);
    if (bytes > left.size()) return all;
    for (const ListKind& list : kLists)
      if ((form & 0xf) == list.kind && form >> 4 == list.unit_bytes)
        std::ranges::move(read_list(left.first(bytes), list), std::back_inserter(all));
    left = left.subspan(bytes);
  }
  return all;
}

}  // namespace dlcp::datapath
