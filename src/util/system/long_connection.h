// Settings of a TCP connection that lives for hours and carries little data.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace dlcp {

// Must be called before the socket connects or listens; accepted sockets inherit the settings. Data
// is sent at once. A connection to a host that has vanished ends after two minutes. Without a probe
// each minute, firewalls and load balancers would forget an idle connection, some after 350 s.
inline void prepare_long_connection(int fd) {
  // A TCP connection seldom detects that the MTU of its path has shrunk if no ICMP message says so.
  // Segments of RFC 9293's default size fit nearly every path.
  constexpr int kSegmentBytes = 536;
  constexpr int kSilentSeconds = 60;
  constexpr int kProbeSeconds = 10;
  constexpr int kProbes = 6;
  // While sent data is unacknowledged, the system sends no probes, so this limit applies.
  constexpr unsigned kUnackedMs = 120'000;
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ::setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &kSegmentBytes, sizeof kSegmentBytes);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kSilentSeconds, sizeof kSilentSeconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kProbeSeconds, sizeof kProbeSeconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnackedMs, sizeof kUnackedMs);
}

}  // namespace dlcp
