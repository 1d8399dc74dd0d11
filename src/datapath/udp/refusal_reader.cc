#include "datapath/udp/refusal_reader.h"

#include <fmt/format.h>
#include <linux/errqueue.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "datapath/ip_address.h"
#include "util/system_text.h"

namespace dlcp::datapath {
namespace {

constexpr std::size_t kSocketsAtOnce = 16;

bool is_port_unreachable(const sock_extended_err& error) {
  if (error.ee_origin == SO_EE_ORIGIN_ICMP)
    return error.ee_type == ICMP_DEST_UNREACH && error.ee_code == ICMP_PORT_UNREACH;
  return error.ee_origin == SO_EE_ORIGIN_ICMP6 && error.ee_type == ICMP6_DST_UNREACH &&
         error.ee_code == ICMP6_DST_UNREACH_NOPORT;
}

// A router that rejects for others says nothing about the peer.
bool said_by(const sock_extended_err& error, const sockaddr& destination) {
  const auto speaker = ip_address_of(*SO_EE_OFFENDER(&error));
  const auto peer = ip_address_of(destination);
  return speaker && peer && speaker->family == peer->family && speaker->bytes == peer->bytes;
}

bool is_refusal(msghdr& message) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    const bool about_error =
        (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_RECVERR) ||
        (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_RECVERR);
    if (!about_error) continue;
    const auto* error = reinterpret_cast<const sock_extended_err*>(CMSG_DATA(header));
    return is_port_unreachable(*error) &&
           said_by(*error, *static_cast<const sockaddr*>(message.msg_name));
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<RefusalReader>> RefusalReader::open(std::vector<int> sockets) {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  bool watched = epoll.valid();
  for (std::size_t i = 0; i < sockets.size() && watched; ++i) {
    epoll_event event{};
    event.events = EPOLLET;  // EPOLLERR comes unasked
    event.data.u32 = static_cast<std::uint32_t>(i);
    watched = ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, sockets[i], &event) == 0;
  }
  if (!watched) {
    return Error{ErrorCode::kSystem,
                 fmt::format("cannot watch UDP sockets for errors: {}", system_text(errno)),
                 "raise the limit on open files (ulimit -n)"};
  }
  return std::unique_ptr<RefusalReader>(new RefusalReader(std::move(sockets), std::move(epoll)));
}

RefusalReader::RefusalReader(std::vector<int> sockets, Fd epoll)
    : sockets_(std::move(sockets)), epoll_(std::move(epoll)) {}

std::span<const std::byte> RefusalReader::next(UdpCounters& counters) {
  if (failing_.empty()) {
    std::array<epoll_event, kSocketsAtOnce> events;
    const int found = ::epoll_wait(epoll_.get(), events.data(), kSocketsAtOnce, 0);
    for (int i = 0; i < found; ++i)
      if ((events[static_cast<std::size_t>(i)].events & EPOLLERR) != 0)
        failing_.push_back(events[static_cast<std::size_t>(i)].data.u32);
  }
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
    const ssize_t got = ::recvmsg(sockets_[failing_.back()], &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (got < 0) {
      failing_.pop_back();
    } else if (is_refusal(message)) {
      ++counters.rx_refused;
      return std::span(quoted_).first(static_cast<std::size_t>(got));
    } else {
      ++counters.rx_refused_ignored;
    }
  }
  return {};
}

}  // namespace dlcp::datapath
