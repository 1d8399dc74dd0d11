#include "cli/doctor/host/socket_checks.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <optional>
#include <random>
#include <vector>

#include "cli/doctor/host/system_file.h"
#include "cli/doctor/path/mark_socket.h"
#include "datapath/udp/udp_socket.h"
#include "dlcp/traffic_class.h"
#include "util/rng.h"
#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

using datapath::IpAddress;
using datapath::IpFamily;

constexpr Duration kLoopbackWait = 200ms;
constexpr std::uint16_t kSegmentBytes = 1200;
constexpr std::size_t kSegments = 8;
// With a smaller buffer a 100 Gbit/s path cannot be kept busy for 200 us, whatever the credits.
constexpr std::uint64_t kGoodBufferBytes = std::uint64_t{4} << 20;

IpAddress loopback(IpFamily family) {
  IpAddress ip;
  ip.family = family;
  if (family == IpFamily::kV4)
    ip.bytes = {127, 0, 0, 1};
  else
    ip.bytes[15] = 1;
  return ip;
}

struct Pair {
  MarkSocket sender;
  MarkSocket receiver;
};

Result<Pair> open_pair(IpFamily family) {
  auto receiver = MarkSocket::open(loopback(family), 0);
  if (!receiver) return receiver.error();
  auto sender = MarkSocket::open(loopback(family), 0);
  if (!sender) return sender.error();
  const auto peer = datapath::socket_address(loopback(family), receiver->port());
  if (auto connected = sender->connect(peer); !connected) return connected.error();
  return Pair{std::move(sender).value(), std::move(receiver).value()};
}

struct Burst {
  int send_error = 0;
  bool merging = false;
  std::size_t receives = 0;
  std::size_t bytes = 0;
  std::size_t segment_bytes = 0;
};

Result<Burst> send_burst(bool merge) {
  auto pair = open_pair(IpFamily::kV4);
  if (!pair) return pair.error();
  Burst burst;
  burst.merging = merge && pair->receiver.enable_merging();
  const std::vector<std::byte> data(kSegmentBytes * kSegments);
  burst.send_error = pair->sender.send(data, 0, {nullptr, nullptr, kSegmentBytes});
  std::vector<std::byte> buffer(std::size_t{1} << 16);
  while (burst.bytes < data.size()) {
    const auto received = pair->receiver.receive(buffer, kLoopbackWait);
    if (!received) break;
    ++burst.receives;
    burst.bytes += received->size;
    burst.segment_bytes = received->segment_bytes;
  }
  return burst;
}

// If loopback does not work, the kernel's features cannot be tested.
Finding not_tried(const char* check, const Error& error) {
  return {check, Level::kWarn, "not tested: " + error.what,
          "ip link set lo up; the kernel checks use loopback"};
}

Finding check_marks(IpFamily family, const TrafficClassTable& classes) {
  Finding finding{family == IpFamily::kV4 ? "marks_ipv4" : "marks_ipv6", Level::kOk, "", ""};
  auto pair = open_pair(family);
  if (!pair) {
    finding.level = Level::kWarn;
    finding.value = "not tested: " + pair.error().what;
    finding.fix = family == IpFamily::kV6 ? "nothing to do unless the job uses IPv6" : "";
    return finding;
  }
  std::vector<std::byte> buffer(64);
  for (const TrafficClassRow& row : classes) {
    const std::uint8_t tos = tos_of(row);
    const int error = pair->sender.send(buffer, tos);
    const auto received = pair->receiver.receive(buffer, kLoopbackWait);
    if (error != 0 || !received || received->tos != tos) {
      finding.level = Level::kFail;
      finding.value = fmt::format("class {}: sent TOS {:#04x}, {}", row.name, tos,
                                  error != 0 ? system_text(error)
                                  : received ? fmt::format("got {:#04x}", received->tos)
                                             : "nothing arrived");
      finding.fix = "look for a packet filter or eBPF program on lo that rewrites or drops packets";
      return finding;
    }
  }
  finding.value = fmt::format("DSCP and ECN can be written per datagram and read back ({} classes)",
                              kTrafficClassCount);
  return finding;
}

// The buffer of a socket that requests `wanted`, halved because the kernel doubles the request.
std::uint64_t granted(int option, int force_option, std::uint64_t wanted) {
  Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) fd = Fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int value = static_cast<int>(wanted);
  if (::setsockopt(fd.get(), SOL_SOCKET, force_option, &value, sizeof value) != 0)
    (void)::setsockopt(fd.get(), SOL_SOCKET, option, &value, sizeof value);
  int result = 0;
  socklen_t size = sizeof result;
  if (::getsockopt(fd.get(), SOL_SOCKET, option, &result, &size) != 0) return 0;
  return static_cast<std::uint64_t>(result) / 2;
}

Finding check_buffer(const char* check, const char* sysctl, int option, int force_option) {
  const std::string path = fmt::format("/proc/sys/net/core/{}", sysctl);
  const auto limit = read_number(path);
  const std::uint64_t got = granted(option, force_option, kGoodBufferBytes);
  Finding finding{check, Level::kOk, "", ""};
  finding.value =
      fmt::format("net.core.{} is {}; a socket gets {} of the requested {} bytes", sysctl,
                  limit ? std::to_string(*limit) : "not readable here", got, kGoodBufferBytes);
  if (got < kGoodBufferBytes) {
    finding.level = Level::kWarn;
    finding.value += "; DLCP works, but with less data in flight";
    finding.fix = fmt::format("sysctl -w net.core.{}={} (and a line in /etc/sysctl.d/)", sysctl,
                              std::uint64_t{16} << 20);
  }
  return finding;
}

}  // namespace

Findings check_sockets() {
  Rng rng(std::random_device{}());
  std::optional<Error> error;
  for (const IpFamily family : {IpFamily::kV4, IpFamily::kV6}) {
    datapath::UdpSocketOptions options;
    options.local_ip.family = family;
    const auto opened = datapath::open_udp_socket(options, rng);
    if (opened) return {};
    if (!error) error = opened.error();
  }
  return {{"udp_socket", Level::kFail, error->what, error->hint}};
}

Finding check_segmentation() {
  Finding finding{"udp_segment", Level::kOk, "", ""};
  const auto burst = send_burst(false);
  if (!burst) return not_tried("udp_segment", burst.error());
  if (burst.value().send_error == 0 && burst.value().receives == kSegments) {
    finding.value = fmt::format("one send produced {} datagrams", kSegments);
    return finding;
  }
  finding.level = Level::kWarn;
  finding.value =
      burst.value().send_error != 0
          ? fmt::format("refused: {}", system_text(burst.value().send_error))
          : fmt::format("{} of {} datagrams arrived", burst.value().receives, kSegments);
  finding.fix = "Linux 4.18 or newer; without it every packet costs a system call";
  return finding;
}

Finding check_merging() {
  Finding finding{"udp_gro", Level::kOk, "", ""};
  const auto burst = send_burst(true);
  if (!burst) return not_tried("udp_gro", burst.error());
  if (burst.value().receives == 1 && burst.value().segment_bytes == kSegmentBytes) {
    finding.value = fmt::format("one receive returned {} datagrams", kSegments);
    return finding;
  }
  finding.level = Level::kWarn;
  finding.value = !burst.value().merging ? "the kernel does not support UDP_GRO"
                                         : fmt::format("{} receives for {} datagrams",
                                                       burst.value().receives, kSegments);
  finding.fix = "Linux 5.0 or newer; without it every packet costs a receive";
  return finding;
}

Findings check_marks_over_loopback(const TrafficClassTable& classes) {
  return {check_marks(IpFamily::kV4, classes), check_marks(IpFamily::kV6, classes)};
}

Findings check_socket_buffers() {
  return {check_buffer("receive_buffer", "rmem_max", SO_RCVBUF, SO_RCVBUFFORCE),
          check_buffer("send_buffer", "wmem_max", SO_SNDBUF, SO_SNDBUFFORCE)};
}

}  // namespace dlcp::cli
