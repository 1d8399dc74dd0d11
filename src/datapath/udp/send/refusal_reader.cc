#include "datapath/udp/send/refusal_reader.h"

#include <fmt/format.h>
#include <linux/errqueue.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "datapath/address/ip_address.h"

namespace dlcp::datapath {
namespace {

constexpr Duration kPollInterval = 1ms;

PathReport::Kind kind_of_v4(const sock_extended_err& error) {
  if (error.ee_type != ICMP_DEST_UNREACH) return PathReport::Kind::kNothing;
  switch (error.ee_code) {
    case ICMP_PORT_UNREACH:
      return PathReport::Kind::kPortUnreachable;
    case ICMP_NET_ANO:
    case ICMP_HOST_ANO:
    case ICMP_PKT_FILTERED:
      return PathReport::Kind::kProhibited;
    case ICMP_NET_UNREACH:
    case ICMP_HOST_UNREACH:
      return PathReport::Kind::kUnreachable;
    default:
      return PathReport::Kind::kNothing;
  }
}

PathReport::Kind kind_of_v6(const sock_extended_err& error) {
  constexpr std::uint8_t kPolicy = 5, kRejectRoute = 6;  // RFC 4443
  if (error.ee_type != ICMP6_DST_UNREACH) return PathReport::Kind::kNothing;
  switch (error.ee_code) {
    case ICMP6_DST_UNREACH_NOPORT:
      return PathReport::Kind::kPortUnreachable;
    case ICMP6_DST_UNREACH_ADMIN:
    case kPolicy:
    case kRejectRoute:
      return PathReport::Kind::kProhibited;
    case ICMP6_DST_UNREACH_NOROUTE:
    case ICMP6_DST_UNREACH_ADDR:
      return PathReport::Kind::kUnreachable;
    default:
      return PathReport::Kind::kNothing;
  }
}

// An error queue entry: the report, the destination of the packet, and the type of the reporter.
struct Entry {
  PathReport report;
  IpAddress to;
  std::uint16_t port = 0;
  bool by_peer = false;  // false: a router or this host, which does not concern the process
};

std::uint16_t port_of(const sockaddr& address) {
  SocketAddress copy;
  std::memcpy(&copy.v6, &address, sizeof copy.v6);
  return ntohs(address.sa_family == AF_INET ? copy.v4.sin_port : copy.v6.sin6_port);
}

Entry read_entry(const sock_extended_err& error, const SocketAddress& destination) {
  Entry entry;
  if (error.ee_origin == SO_EE_ORIGIN_ICMP) entry.report.kind = kind_of_v4(error);
  if (error.ee_origin == SO_EE_ORIGIN_ICMP6) entry.report.kind = kind_of_v6(error);
  const auto speaker = ip_address_of(*SO_EE_OFFENDER(&error));
  const auto peer = ip_address_of(destination.any);
  if (peer) entry.to = *peer;
  entry.port = port_of(destination.any);
  if (speaker) entry.report.from = to_string(*speaker);
  entry.by_peer =
      speaker && peer && speaker->family == peer->family && speaker->bytes == peer->bytes;
  return entry;
}

Entry read_entry(msghdr& message, const SocketAddress& destination) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    const bool about_error =
        (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_RECVERR) ||
        (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_RECVERR);
    if (about_error)
      return read_entry(*reinterpret_cast<const sock_extended_err*>(CMSG_DATA(header)),
                        destination);
  }
  return {};
}

bool is_rejection(PathReport::Kind kind) {
  return kind == PathReport::Kind::kPortUnreachable || kind == PathReport::Kind::kProhibited;
}

}  // namespace

RefusalReader::RefusalReader(const std::vector<int>& sockets) {
  for (const int socket : sockets)
    sockets_.push_back({socket, 0, 0});  // POLLERR is always reported
}

void RefusalReader::find_failing(Time now) {
  if (now < next_poll_) return;
  next_poll_ = now + kPollInterval;
  if (::poll(sockets_.data(), sockets_.size(), 0) <= 0) return;
  for (const pollfd& socket : sockets_)
    if ((socket.revents & POLLERR) != 0) failing_.push_back(socket.fd);
}

std::span<const std::byte> RefusalReader::next(Time now, UdpCounters& counters) {
  if (failing_.empty()) find_failing(now);
  while (!failing_.empty()) {
    SocketAddress destination;
    iovec piece{quoted_.data(), quoted_.size()};
    alignas(cmsghdr) std::array<std::byte, 256> control;
    msghdr message{};
    message.msg_name = &destination.any;
    message.msg_namelen = sizeof(sockaddr_in6);
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(failing_.back(), &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (got < 0) {
      failing_.pop_back();
      continue;
    }
    Entry entry = read_entry(message, destination);
    const bool is_rejected = entry.by_peer && is_rejection(entry.report.kind);
    entry.report.at = now;
    keep({entry.to, entry.port, std::move(entry.report)});
    if (is_rejected) {
      ++counters.rx_refused;
      return std::span(quoted_).first(static_cast<std::size_t>(got));
    }
    ++counters.rx_refused_ignored;
  }
  return {};
}

void RefusalReader::keep(Kept report) {
  constexpr std::size_t kReportsMax = 256;
  if (report.report.kind == PathReport::Kind::kNothing) return;
  std::erase_if(reports_,
                [&](const Kept& old) { return old.to == report.to && old.port == report.port; });
  if (reports_.size() == kReportsMax) reports_.pop_front();
  reports_.push_back(std::move(report));
}

// An unreachable port may belong to another process on the peer's host, so its number must match;
// the other kinds concern the whole host.
PathReport RefusalReader::last_report(const DeviceAddress& peer) const {
  const auto ports = peer.of(LocatorKind::kUdpPort);
  for (auto kept = reports_.rbegin(); kept != reports_.rend(); ++kept) {
    if (kept->to.family != peer.ip.family || kept->to.bytes != peer.ip.bytes) continue;
    if (kept->report.kind != PathReport::Kind::kPortUnreachable ||
        std::ranges::find(ports, kept->port, &Locator::value) != ports.end())
      return kept->report;
  }
  return {};
}

}  // namespace dlcp::datapath
