#include "cli/doctor/path/mark_socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "datapath/address/device_address.h"
#include "datapath/udp/socket_options.h"
#include "util/system/system_text.h"

namespace dlcp::cli {
namespace {

using datapath::control_value;
using datapath::IpAddress;
using datapath::IpFamily;
using datapath::set_option;
using datapath::SocketAddress;

constexpr int kBindAttempts = 200;

void set_ip_options(int fd, IpFamily family) {
  if (family == IpFamily::kV4) {
    set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
    set_option(fd, IPPROTO_IP, IP_RECVTOS, 1);
    set_option(fd, IPPROTO_IP, IP_PKTINFO, 1);
  } else {
    set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
    set_option(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
    set_option(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  }
}

// Control messages of one send, in a buffer that is large enough for all three.
class ControlWriter {
 public:
  explicit ControlWriter(msghdr& message) : message_(message) {
    message_.msg_control = bytes_;
    message_.msg_controllen = 0;
  }

  template <class T>
  void add(int level, int type, const T& value) {
    auto* header = reinterpret_cast<cmsghdr*>(bytes_ + message_.msg_controllen);
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(sizeof value);
    std::memcpy(CMSG_DATA(header), &value, sizeof value);
    message_.msg_controllen += CMSG_SPACE(sizeof value);
  }

 private:
  msghdr& message_;
  alignas(cmsghdr) std::byte bytes_[256] = {};
};

void add_source(ControlWriter& control, const IpAddress& from, int link) {
  if (from.family == IpFamily::kV4) {
    in_pktinfo info{};
    std::memcpy(&info.ipi_spec_dst, from.bytes.data(), 4);
    info.ipi_ifindex = link;
    control.add(IPPROTO_IP, IP_PKTINFO, info);
  } else {
    in6_pktinfo info{};
    std::memcpy(&info.ipi6_addr, from.bytes.data(), 16);
    info.ipi6_ifindex = link != 0 ? static_cast<unsigned>(link) : from.scope;
    control.add(IPPROTO_IPV6, IPV6_PKTINFO, info);
  }
}

void read_control(msghdr& message, MarkSocket::Received& received) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_TOS) {
      received.tos = control_value<std::uint8_t>(*header);
    } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_TCLASS) {
      received.tos = static_cast<std::uint8_t>(control_value<int>(*header));
    } else if (header->cmsg_level == IPPROTO_UDP && header->cmsg_type == UDP_GRO) {
      received.segment_bytes = static_cast<std::size_t>(control_value<int>(*header));
    } else if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
      const auto info = control_value<in_pktinfo>(*header);
      received.to.family = IpFamily::kV4;
      std::memcpy(received.to.bytes.data(), &info.ipi_addr, 4);
    } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
      const auto info = control_value<in6_pktinfo>(*header);
      received.to.family = IpFamily::kV6;
      std::memcpy(received.to.bytes.data(), &info.ipi6_addr, 16);
      received.to.scope = received.to.is_link_local() ? info.ipi6_ifindex : 0;
    }
  }
}

}  // namespace

std::size_t header_bytes(IpFamily family) {
  return family == IpFamily::kV4 ? 28 : 48;
}

Result<MarkSocket> MarkSocket::open(const IpAddress& local, std::uint16_t port) {
  const int domain = local.family == IpFamily::kV4 ? AF_INET : AF_INET6;
  MarkSocket socket(Fd(::socket(domain, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
                    local.family);
  if (!socket.fd_.valid())
    return Error{ErrorCode::kSystem,
                 fmt::format("cannot open a UDP socket: {}", system_text(errno)), ""};
  set_ip_options(socket.descriptor(), local.family);
  set_option(socket.descriptor(), SOL_SOCKET, SO_RCVBUF, 1 << 20);
  std::minstd_rand random{std::random_device{}()};
  for (int attempt = 0; attempt < kBindAttempts; ++attempt) {
    socket.port_ =
        port != 0 ? port : static_cast<std::uint16_t>(datapath::kUdpPortMin + random() % 16384);
    const SocketAddress address = datapath::socket_address(local, socket.port_);
    if (::bind(socket.descriptor(), &address.any, address.size) == 0) return socket;
    if (errno != EADDRINUSE || port != 0) break;
  }
  return Error{ErrorCode::kSystem,
               fmt::format("cannot bind UDP port {} of {}: {}", socket.port_,
                           datapath::to_string(local), system_text(errno)),
               "choose another port with --port"};
}

Status MarkSocket::connect(const SocketAddress& peer) {
  if (::connect(descriptor(), &peer.any, peer.size) == 0) return Unit{};
  return Error{ErrorCode::kSystem, fmt::format("no route to the peer: {}", system_text(errno)),
               "check the address and `ip route get`"};
}

bool MarkSocket::enable_merging() {
  return set_option(descriptor(), IPPROTO_UDP, UDP_GRO, 1);
}

int MarkSocket::send(std::span<const std::byte> bytes, std::uint8_t tos, const Route& route) const {
  iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (route.to != nullptr) {
    message.msg_name = const_cast<sockaddr*>(&route.to->any);
    message.msg_namelen = route.to->size;
  }
  ControlWriter control(message);
  if (family_ == IpFamily::kV4)
    control.add(IPPROTO_IP, IP_TOS, static_cast<int>(tos));
  else
    control.add(IPPROTO_IPV6, IPV6_TCLASS, static_cast<int>(tos));
  if (route.from != nullptr)
    add_source(control, *route.from, 0);
  else if (from_)
    add_source(control, *from_, link_);
  if (route.segment_bytes != 0) control.add(IPPROTO_UDP, UDP_SEGMENT, route.segment_bytes);
  return ::sendmsg(descriptor(), &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}

std::optional<MarkSocket::Received> MarkSocket::receive(std::span<std::byte> into,
                                                        Duration wait) const {
  pollfd ready{descriptor(), POLLIN, 0};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  if (wait.count() > 0 && ::poll(&ready, 1, static_cast<int>(ms)) <= 0) return std::nullopt;
  Received received;
  iovec data{into.data(), into.size()};
  alignas(cmsghdr) std::byte control[256];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_name = &received.from.any;
  message.msg_namelen = sizeof received.from.v6;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(descriptor(), &message, 0);
  if (size < 0) return std::nullopt;
  received.size = static_cast<std::size_t>(size);
  received.from.size = message.msg_namelen;
  read_control(message, received);
  return received;
}

std::size_t MarkSocket::route_mtu() const {
  int mtu = 0;
  socklen_t size = sizeof mtu;
  const bool v4 = family_ == IpFamily::kV4;
  const int status = ::getsockopt(descriptor(), v4 ? IPPROTO_IP : IPPROTO_IPV6,
                                  v4 ? IP_MTU : IPV6_MTU, &mtu, &size);
  return status == 0 && mtu > 0 ? static_cast<std::size_t>(mtu) : 0;
}

}  // namespace dlcp::cli
