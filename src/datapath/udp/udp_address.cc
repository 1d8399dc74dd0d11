// The layout of a UdpAddress inside an EndpointAddress; see the header.
#include "datapath/udp/udp_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace dlcp::datapath {
namespace {

constexpr std::size_t kFixedBytes = 8;
constexpr std::size_t kQueuePairBytes = 4;
static_assert(kFixedBytes + 16 + 2 * UdpAddress::kPortsMax + kQueuePairBytes <=
              wire::EndpointAddress::kMaxBytes);

constexpr std::size_t ip_bytes_of(IpFamily family) {
  return family == IpFamily::kV4 ? 4 : 16;
}

}  // namespace

wire::EndpointAddress encode(const UdpAddress& address) {
  wire::EndpointAddress blob;
  std::byte* to = blob.bytes.data();
  const auto put = [&to](unsigned value) { *to++ = static_cast<std::byte>(value & 0xff); };
  put(static_cast<unsigned>(address.ip.family));
  put(address.port_count);
  put(address.queue_pair != 0 ? 1 : 0);
  put(0);
  for (int shift = 24; shift >= 0; shift -= 8) {
    put(address.ip.scope >> shift);
  }
  for (std::size_t i = 0; i < ip_bytes_of(address.ip.family); ++i) {
    put(address.ip.bytes[i]);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(address.port_count, UdpAddress::kPortsMax);
       ++i) {
    put(address.ports[i] >> 8);
    put(address.ports[i]);
  }
  if (address.queue_pair != 0) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      put(address.queue_pair >> shift);
    }
  }
  blob.size = static_cast<std::uint8_t>(to - blob.bytes.data());
  return blob;
}

std::optional<UdpAddress> decode_udp_address(const wire::EndpointAddress& blob) {
  if (blob.size < kFixedBytes || blob.size > wire::EndpointAddress::kMaxBytes) {
    return std::nullopt;
  }
  const auto at = [&blob](std::size_t i) { return std::to_integer<unsigned>(blob.bytes[i]); };
  UdpAddress address;
  if (at(0) != 4 && at(0) != 6) {
    return std::nullopt;
  }
  address.ip.family = static_cast<IpFamily>(at(0));
  const std::size_t ip_bytes = ip_bytes_of(address.ip.family);
  const std::size_t ports = at(1);
  const std::size_t queue_pairs = at(2);
  const std::size_t queue_pair_at = kFixedBytes + ip_bytes + 2 * ports;
  if (ports > UdpAddress::kPortsMax || queue_pairs > 1 || ports + queue_pairs < 1 || at(3) != 0 ||
      blob.size != queue_pair_at + queue_pairs * kQueuePairBytes) {
    return std::nullopt;
  }
  address.ip.scope = at(4) << 24 | at(5) << 16 | at(6) << 8 | at(7);
  for (std::size_t i = 0; i < ip_bytes; ++i) {
    address.ip.bytes[i] = static_cast<std::uint8_t>(at(kFixedBytes + i));
  }
  if (!address.ip.is_unicast() || (address.ip.scope != 0 && !address.ip.is_link_local())) {
    return std::nullopt;
  }
  address.port_count = static_cast<std::uint8_t>(ports);
  for (std::size_t i = 0; i < ports; ++i) {
    const std::size_t offset = kFixedBytes + ip_bytes + 2 * i;
    address.ports[i] = static_cast<std::uint16_t>(at(offset) << 8 | at(offset + 1));
    if (address.ports[i] < kUdpPortMin) {
      return std::nullopt;
    }
  }
  if (queue_pairs == 1) {
    const std::size_t i = queue_pair_at;
    address.queue_pair = at(i + 1) << 16 | at(i + 2) << 8 | at(i + 3);
    if (at(i) != 0 || address.queue_pair == 0) {
      return std::nullopt;
    }
  }
  return address;
}

std::string to_string(const UdpAddress& address) {
  const std::string host = to_string(address.ip);
  if (address.port_count == 0) {
    return fmt::format("{} queue pair {}", host, address.queue_pair);
  }
  std::string text = address.ip.family == IpFamily::kV4
                         ? fmt::format("{}:{}", host, address.ports[0])
                         : fmt::format("[{}]:{}", host, address.ports[0]);
  if (address.port_count > 1) {
    text += fmt::format("(+{})", address.port_count - 1);
  }
  return text;
}

}  // namespace dlcp::datapath
