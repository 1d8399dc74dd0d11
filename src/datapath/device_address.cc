// The layout of a DeviceAddress inside an EndpointAddress; see the header.
#include "datapath/device_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace dlcp::datapath {
namespace {

enum class Locator : unsigned { kUdpPort = 1, kQueuePair = 2 };

constexpr std::size_t kPortBytes = 2;
constexpr std::size_t kQueuePairBytes = 3;
static_assert(1 + 16 + 4 + 2 + kPortBytes * DeviceAddress::kPortsMax + 2 + kQueuePairBytes <=
              wire::EndpointAddress::kMaxBytes);

constexpr std::size_t ip_bytes_of(IpFamily family) {
  return family == IpFamily::kV4 ? 4 : 16;
}

}  // namespace

wire::EndpointAddress encode(const DeviceAddress& address) {
  wire::EndpointAddress blob;
  std::byte* to = blob.bytes.data();
  const auto put = [&to](std::uint32_t value, std::size_t bytes) {
    for (; bytes > 0; --bytes) {
      *to++ = static_cast<std::byte>(value >> (8 * (bytes - 1)) & 0xff);
    }
  };
  const auto begin_list = [&put](Locator kind, std::size_t bytes, std::size_t count) {
    put(static_cast<std::uint32_t>(bytes << 4 | static_cast<unsigned>(kind)), 1);
    put(static_cast<std::uint32_t>(count), 1);
  };
  put(static_cast<std::uint32_t>(address.ip.family), 1);
  for (std::size_t i = 0; i < ip_bytes_of(address.ip.family); ++i) {
    put(address.ip.bytes[i], 1);
  }
  put(address.ip.scope, 4);
  const std::size_t ports = std::min<std::size_t>(address.port_count, DeviceAddress::kPortsMax);
  if (ports != 0) {
    begin_list(Locator::kUdpPort, kPortBytes, ports);
    for (std::size_t i = 0; i < ports; ++i) {
      put(address.ports[i], kPortBytes);
    }
  }
  if (address.queue_pair != 0) {
    begin_list(Locator::kQueuePair, kQueuePairBytes, 1);
    put(address.queue_pair, kQueuePairBytes);
  }
  blob.size = static_cast<std::uint8_t>(to - blob.bytes.data());
  return blob;
}

namespace {

// Takes numbers from a blob; past its end it stays failed and gives zeros.
class BlobReader {
 public:
  explicit BlobReader(const wire::EndpointAddress& blob)
      : left_(std::span(blob.bytes).first(std::min<std::size_t>(blob.size, blob.bytes.size()))),
        ok_(blob.size <= wire::EndpointAddress::kMaxBytes) {}

  std::uint32_t get(std::size_t bytes) {
    std::uint32_t value = 0;
    for (; bytes > 0; --bytes) {
      ok_ = ok_ && !left_.empty();
      value = value << 8 | (ok_ ? std::to_integer<std::uint32_t>(left_[0]) : 0);
      left_ = left_.subspan(ok_ ? 1 : 0);
    }
    return value;
  }
  bool ok() const { return ok_; }
  bool done() const { return !ok_ || left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool ok_;
};

bool read_ports(BlobReader& in, std::size_t count, DeviceAddress& address) {
  if (address.port_count != 0 || count == 0 || count > DeviceAddress::kPortsMax) {
    return false;
  }
  address.port_count = static_cast<std::uint8_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    address.ports[i] = static_cast<std::uint16_t>(in.get(kPortBytes));
    if (address.ports[i] < kUdpPortMin) {
      return false;
    }
  }
  return in.ok();
}

bool read_locators(BlobReader& in, DeviceAddress& address) {
  const std::uint32_t form = in.get(1);
  const std::size_t count = in.get(1);
  const std::size_t bytes = form >> 4;
  switch (static_cast<Locator>(form & 0xf)) {
    case Locator::kUdpPort:
      return bytes == kPortBytes && read_ports(in, count, address);
    case Locator::kQueuePair:
      if (bytes != kQueuePairBytes || count != 1 || address.queue_pair != 0) {
        return false;
      }
      address.queue_pair = in.get(kQueuePairBytes);
      return address.queue_pair != 0;
    default:
      in.get(bytes * count);
      return in.ok() && bytes * count != 0;
  }
}

}  // namespace

std::optional<DeviceAddress> decode_device_address(const wire::EndpointAddress& blob) {
  BlobReader in(blob);
  DeviceAddress address;
  const std::uint32_t family = in.get(1);
  if (family != 4 && family != 6) {
    return std::nullopt;
  }
  address.ip.family = static_cast<IpFamily>(family);
  for (std::size_t i = 0; i < ip_bytes_of(address.ip.family); ++i) {
    address.ip.bytes[i] = static_cast<std::uint8_t>(in.get(1));
  }
  address.ip.scope = in.get(4);
  if (!in.ok() || !address.ip.is_unicast() ||
      (address.ip.scope != 0 && !address.ip.is_link_local())) {
    return std::nullopt;
  }
  while (!in.done()) {
    if (!read_locators(in, address)) {
      return std::nullopt;
    }
  }
  const bool reachable = address.port_count != 0 || address.queue_pair != 0;
  return in.ok() && reachable ? std::optional(address) : std::nullopt;
}

DeviceAddress join(const DeviceAddress& first, const DeviceAddress& second) {
  DeviceAddress both = first;
  if (both.port_count == 0) {
    both.ports = second.ports;
    both.port_count = second.port_count;
  }
  if (both.queue_pair == 0) {
    both.queue_pair = second.queue_pair;
  }
  return both;
}

DeviceAddress udp_part(DeviceAddress address) {
  address.queue_pair = 0;
  return address;
}

// A GID is a whole address: it has no scope.
DeviceAddress roce_part(DeviceAddress address) {
  address.port_count = 0;
  address.ports = {};
  address.ip.scope = 0;
  return address;
}

std::string to_string(const DeviceAddress& address) {
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
