#include "datapath/trace/capture_file.h"

#include <chrono>
#include <concepts>

#include "datapath/address/device_address.h"

namespace dlcp::datapath {
namespace {

constexpr std::uint32_t kMagicNanoseconds = 0xa1b23c4d;
constexpr std::uint32_t kLinkTypeRaw = 101;  // packets begin with the IP header
constexpr std::size_t kUdpBytes = 8;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint8_t kUdpProtocol = 17;

class Bytes {
 public:
  template <std::unsigned_integral T>
  void little(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      out.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  template <std::unsigned_integral T>
  void big(T value) {
    for (std::size_t i = sizeof value; i > 0; --i)
      out.push_back(static_cast<std::byte>(value >> (8 * (i - 1))));
  }
  void bytes(std::span<const std::byte> from) { out.insert(out.end(), from.begin(), from.end()); }
  void address(const wire::HostAddress& host, bool v4) {
    bytes(std::as_bytes(std::span(host.words)).first(v4 ? 4 : 16));
  }
  std::vector<std::byte> out;
};

void put_ip(Bytes& to, const TracedPacket& packet, const wire::HostAddress& local, bool v4) {
  const auto payload = static_cast<std::uint16_t>(kUdpBytes + packet.bytes);
  if (v4) {
    to.big(std::uint8_t{0x45});
    to.big(packet.tos);
    to.big(static_cast<std::uint16_t>(20 + payload));
    to.big(std::uint32_t{0});
    to.big(kHopLimit);
    to.big(kUdpProtocol);
    to.big(std::uint16_t{0});  // checksum
  } else {
    to.big(std::uint32_t{6} << 28 | std::uint32_t{packet.tos} << 20);
    to.big(payload);
    to.big(kUdpProtocol);
    to.big(kHopLimit);
  }
  to.address(packet.sent ? local : packet.peer, v4);
  to.address(packet.sent ? packet.peer : local, v4);
}

}  // namespace

std::vector<std::byte> capture_of(std::span<const TracedPacket> packets,
                                  const wire::EndpointAddress& local, Duration to_wall) {
  const bool v4 = local.bytes[0] != std::byte{6};
  const wire::HostAddress host = wire::host_of(local);
  const std::size_t headers = (v4 ? 20 : 40) + kUdpBytes;
  Bytes file;
  file.little(kMagicNanoseconds);
  file.little(std::uint16_t{2});
  file.little(std::uint16_t{4});
  file.little(std::uint64_t{0});  // zone, accuracy
  file.little(std::uint32_t{65535});
  file.little(kLinkTypeRaw);
  for (const TracedPacket& packet : packets) {
    const auto at = static_cast<std::uint64_t>(ns_of(packet.at) + to_wall.count());
    file.little(static_cast<std::uint32_t>(at / 1'000'000'000));
    file.little(static_cast<std::uint32_t>(at % 1'000'000'000));
    file.little(static_cast<std::uint32_t>(headers + packet.kept));
    file.little(static_cast<std::uint32_t>(headers + packet.bytes));
    put_ip(file, packet, host, v4);
    const auto port = static_cast<std::uint16_t>(kUdpPortMin + packet.path);
    file.big(port);
    file.big(port);
    file.big(static_cast<std::uint16_t>(kUdpBytes + packet.bytes));
    file.big(std::uint16_t{0});  // checksum
    file.bytes(std::span(packet.head).first(packet.kept));
  }
  return std::move(file.out);
}

}  // namespace dlcp::datapath
