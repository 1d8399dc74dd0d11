// Opens a socket of the UDP datapath. Options that only provide information or speed are optional;
// the bind must succeed.
#include "datapath/udp/udp_socket.h"

#include <fmt/format.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "datapath/address/device_address.h"
#include "datapath/udp/socket_options.h"
#include "util/system/system_text.h"

namespace dlcp::datapath {
namespace {

constexpr const char* kPermit = "let the sandbox, seccomp profile or SELinux policy permit it";
constexpr int kBindTries = 2000;  // of 16384 ports: fails only if nearly all are in use

Error system_error(int error, std::string what, std::string hint) {
  return Error{ErrorCode::kSystem, fmt::format("{}: {}", what, system_text(error)),
               std::move(hint)};
}

// Sets DF on every packet and ignores the kernel's path MTU cache, because the handshake probes the
// path. Sandboxes such as gVisor reject the option.
bool forbid_fragmentation(int fd, IpFamily family) {
  return family == IpFamily::kV4
             ? set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
             : set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
}

void set_wanted_options(const UdpSocketOptions& options, UdpSocket& socket) {
  const int fd = socket.fd.get();
  if (options.local_ip.family == IpFamily::kV4) {
    socket.reads_marks = set_option(fd, IPPROTO_IP, IP_RECVTOS, 1);
    if (options.reports_errors) set_option(fd, IPPROTO_IP, IP_RECVERR, 1);  // see refusal_reader.h
  } else {
    socket.reads_marks = set_option(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
    if (options.reports_errors) set_option(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
  }
  set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
  set_option(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
  socket.gro_on = options.gro && set_option(fd, SOL_UDP, UDP_GRO, 1);
  int segment = 0;
  socklen_t size = sizeof segment;
  socket.gso_known = ::getsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, &size) == 0;
}

// The FORCE option exceeds rmem_max but needs privileges; without them, the kernel limits the size.
void set_buffer(int fd, int forced, int plain, std::size_t bytes) {
  const int value = static_cast<int>(std::min<std::size_t>(bytes, 1u << 30));
  if (value > 0 && !set_option(fd, SOL_SOCKET, forced, value))
    set_option(fd, SOL_SOCKET, plain, value);
}

Result<std::uint16_t> bind_random_port(int fd, const IpAddress& ip, Rng& rng) {
  int error = 0;
  for (int attempt = 0; attempt < kBindTries; ++attempt) {
    const auto port = static_cast<std::uint16_t>(kUdpPortMin + rng.below(65536 - kUdpPortMin));
    const SocketAddress address = socket_address(ip, port);
    if (::bind(fd, &address.any, address.size) == 0) return port;
    error = errno;
    if (error != EADDRINUSE && error != EACCES) {
      return system_error(error, fmt::format("cannot bind a UDP socket to {}", to_string(ip)),
                          "choose the address of an active interface of this host");
    }
  }
  if (error == EACCES)
    return system_error(error, fmt::format("cannot bind a UDP socket to {}", to_string(ip)),
                        kPermit);
  return Error{ErrorCode::kSystem,
               fmt::format("no free UDP port on {} in {} tries between {} and 65535", to_string(ip),
                           kBindTries, kUdpPortMin),
               "use fewer paths per device"};
}

}  // namespace

Error udp_socket_error(int error) {
  const bool forbidden = error == EACCES || error == EPERM;
  const bool too_many = error == EMFILE || error == ENFILE;
  return system_error(error, "cannot open a UDP socket",
                      forbidden  ? kPermit
                      : too_many ? "raise the limit on open files (ulimit -n) or use fewer paths"
                                 : "see the kernel's log (dmesg)");
}

Result<UdpSocket> open_udp_socket(const UdpSocketOptions& options, Rng& rng) {
  const int domain = options.local_ip.family == IpFamily::kV4 ? AF_INET : AF_INET6;
  UdpSocket socket;
  socket.fd = Fd(::socket(domain, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.fd.valid()) return udp_socket_error(errno);
  const int fd = socket.fd.get();
  if (domain == AF_INET6) set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  socket.unfragmented = forbid_fragmentation(fd, options.local_ip.family);
  // Fails if `ip vrf exec` has already bound the socket, which is equivalent.
  if (!options.vrf.empty())
    (void)::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, options.vrf.data(),
                       static_cast<socklen_t>(options.vrf.size()));
  set_wanted_options(options, socket);
  set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, options.receive_buffer_bytes);
  set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, options.send_buffer_bytes);
  int budget = 0;
  socklen_t size = sizeof budget;
  if (::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &budget, &size) == 0 && budget > 0)
    socket.receive_budget_bytes = static_cast<std::size_t>(budget);
  const Result<std::uint16_t> port = bind_random_port(fd, options.local_ip, rng);
  if (!port) return port.error();
  socket.port = port.value();
  return socket;
}

}  // namespace dlcp::datapath
