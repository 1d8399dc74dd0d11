#include "cli/order/agent/probe_socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include "datapath/address/device_address.h"
#include "datapath/udp/socket_options.h"
#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

using datapath::control_value;
using datapath::IpFamily;
using datapath::set_option;

constexpr int kBindAttempts = 200;
constexpr int kBufferBytes = 4 << 20;
constexpr std::size_t kBatch = 16;
constexpr std::size_t kBytesMax = 1 << 16;
constexpr int kBatchesMax = 32;

void read_control(msghdr& message, ProbeSocket::Arrival& arrival) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    const int level = header->cmsg_level, type = header->cmsg_type;
    if (level == SOL_SOCKET && type == SCM_TIMESTAMPNS) {
      const auto at = control_value<timespec>(*header);
      arrival.at_ns = at.tv_sec * 1'000'000'000 + at.tv_nsec;
    } else if ((level == IPPROTO_IP && type == IP_TTL) ||
               (level == IPPROTO_IPV6 && type == IPV6_HOPLIMIT)) {
      arrival.ttl = control_value<int>(*header);
    } else if (level == IPPROTO_UDP && type == UDP_GRO) {
      arrival.segment_bytes = static_cast<std::size_t>(control_value<int>(*header));
    }
  }
}

// Buffers of the thread, valid until the call returns.
struct Buffers {
  std::vector<std::byte> bytes = std::vector<std::byte>(kBatch * kBytesMax);
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> vectors{};
  std::array<datapath::SocketAddress, kBatch> from{};
  struct alignas(cmsghdr) Control {
    std::byte bytes[128];
  };
  std::array<Control, kBatch> control{};

  void reset() {
    for (std::size_t i = 0; i < kBatch; ++i) {
      vectors[i] = {bytes.data() + i * kBytesMax, kBytesMax};
      msghdr& header = messages[i].msg_hdr;
      header = {};
      header.msg_iov = &vectors[i];
      header.msg_iovlen = 1;
      header.msg_name = &from[i].any;
      header.msg_namelen = sizeof from[i].v6;
      header.msg_control = &control[i];
      header.msg_controllen = sizeof control[i];
    }
  }
};

}  // namespace

std::int64_t wall_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

Result<ProbeSocket> ProbeSocket::open(const datapath::IpAddress& local) {
  const bool v4 = local.family == IpFamily::kV4;
  ProbeSocket opened(
      Fd(::socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  const int fd = opened.descriptor();
  if (fd < 0)
    return Error{ErrorCode::kSystem, fmt::format("no UDP socket: {}", system_text(errno)), ""};
  set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
  set_option(fd, SOL_SOCKET, SO_RCVBUF, kBufferBytes);
  set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, kBufferBytes);
  set_option(fd, IPPROTO_UDP, UDP_GRO, 1);
  if (v4)
    set_option(fd, IPPROTO_IP, IP_RECVTTL, 1);
  else
    set_option(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
  std::minstd_rand random{std::random_device{}()};
  for (int attempt = 0; attempt < kBindAttempts; ++attempt) {
    opened.port_ = static_cast<std::uint16_t>(datapath::kUdpPortMin + random() % 16384);
    const auto address = datapath::socket_address(local, opened.port_);
    if (::bind(fd, &address.any, address.size) == 0) return opened;
    if (errno != EADDRINUSE) break;
  }
  return Error{ErrorCode::kSystem,
               fmt::format("cannot bind a UDP port of {}: {}", datapath::to_string(local),
                           system_text(errno)),
               "choose another interface with --interface"};
}

void ProbeSocket::receive(const std::function<void(const Arrival&)>& take) {
  const auto buffers = std::make_unique<Buffers>();
  for (int batch = 0; batch < kBatchesMax; ++batch) {
    buffers->reset();
    const int count =
        ::recvmmsg(descriptor(), buffers->messages.data(), kBatch, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < count; ++i) {
      mmsghdr& message = buffers->messages[static_cast<std::size_t>(i)];
      Arrival arrival;
      arrival.bytes = {static_cast<const std::byte*>(message.msg_hdr.msg_iov->iov_base),
                       message.msg_len};
      arrival.from = buffers->from[static_cast<std::size_t>(i)];
      arrival.from.size = message.msg_hdr.msg_namelen;
      arrival.at_ns = wall_ns();
      read_control(message.msg_hdr, arrival);
      take(arrival);
    }
    if (count < static_cast<int>(kBatch)) return;
  }
}

bool ProbeSocket::send(std::span<const std::byte> bytes, const datapath::SocketAddress& to,
                       std::uint16_t segment_bytes) const {
  iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_name = const_cast<sockaddr*>(&to.any);
  message.msg_namelen = to.size;
  alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof segment_bytes)] = {};
  if (segment_bytes != 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = IPPROTO_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof segment_bytes);
    std::memcpy(CMSG_DATA(header), &segment_bytes, sizeof segment_bytes);
  }
  return ::sendmsg(descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

}  // namespace dlcp::cli
