// Sends runs of packets by system calls; see the header. Meaning of a failed call:
//   EAGAIN        the send buffer is full: stop; the caller offers the rest again
//   GSO rejected  the run is sent packet by packet; if that works, so are all runs for a while
//   others        the kernel rejects this packet or run: lost, counted by reason
#include "datapath/udp/send/burst_sender.h"

#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "datapath/address/device_address.h"
#include "datapath/marks.h"

namespace dlcp::datapath {
namespace {

std::size_t bytes_of(const wire::TxPacket& packet) {
  return packet.header_bytes + packet.payload.size();
}

std::uint64_t UdpCounters::*counter_of(int error) {
  switch (error) {
    case EMSGSIZE:
      return &UdpCounters::tx_error_too_big;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
    case ENODEV:  // the interface that the packet names does not exist any more
    case ECONNREFUSED:
      return &UdpCounters::tx_error_unreachable;
    case EPERM:
    case EACCES:
      return &UdpCounters::tx_error_not_permitted;
    case ENOBUFS:
    case ENOMEM:
      return &UdpCounters::tx_error_no_buffers;
    default:
      return &UdpCounters::tx_error_other;
  }
}

// The kernel copies a run in pieces that are too short for hardware prefetching, so a payload that
// is not in the cache takes half as long again. Therefore all its cache lines are prefetched here.
void fetch(std::span<const std::byte> payload) {
  constexpr std::size_t kLineBytes = 64;
  for (std::size_t at = 0; at < payload.size(); at += kLineBytes)
    __builtin_prefetch(payload.data() + at, 0, 2);
}

// With IP_RECVERR, an error that a host reported about an earlier packet to any destination is
// returned by the next call on the socket, which then sends nothing.
constexpr int kStaleErrorsMax = 4;  // per call, because new errors may arrive continuously

bool may_be_stale(int error) {
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH ||
         error == EPROTO || error == EMSGSIZE || error == ENOPROTOOPT || error == EOPNOTSUPP ||
         error == EACCES;  // ICMPv6: administratively prohibited
}

bool is_would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

// Errors by which kernels, routes and drivers reject segmentation rather than the packets.
bool may_refuse_gso(int error) {
  return error == EINVAL || error == EIO || error == EOPNOTSUPP || error == ENOPROTOOPT;
}

void count_sent(std::span<const wire::TxPacket> run, UdpCounters& counters) {
  counters.tx_packets += run.size();
  counters.tx_bursts += run.size() > 1 ? 1 : 0;
  for (const wire::TxPacket& packet : run)
    counters.tx_bytes += bytes_of(packet);
}

template <class T>
void put_control(msghdr& message, int level, int type, T value) {
  auto* header = reinterpret_cast<cmsghdr*>(static_cast<std::byte*>(message.msg_control) +
                                            message.msg_controllen);
  std::memset(header, 0, CMSG_SPACE(sizeof value));  // including its padding
  header->cmsg_level = level;
  header->cmsg_type = type;
  header->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(header), &value, sizeof value);
  message.msg_controllen += CMSG_SPACE(sizeof value);
}

// If no source address is named, IPv6 uses the address to which the socket is bound; IPv4 does not.
void name_link(msghdr& message, const IpAddress& own, int link) {
  if (own.family == IpFamily::kV4) {
    in_pktinfo info{};
    info.ipi_ifindex = link;
    std::memcpy(&info.ipi_spec_dst, own.bytes.data(), sizeof info.ipi_spec_dst);
    put_control(message, IPPROTO_IP, IP_PKTINFO, info);
  } else {
    in6_pktinfo info{};
    info.ipi6_ifindex = static_cast<unsigned>(link);
    put_control(message, IPPROTO_IPV6, IPV6_PKTINFO, info);
  }
}

}  // namespace

BurstSender::BurstSender(const Options& options, std::vector<int> sockets, Egress egress)
    : options_(options), sockets_(std::move(sockets)), egress_(std::move(egress)) {}

std::size_t BurstSender::send(std::span<const wire::TxPacket> packets, Time now,
                              UdpCounters& counters) {
  now_ = now;
  std::size_t taken = 0;
  while (taken < packets.size()) {
    fill_batch(packets.subspan(taken));
    if (batch_.packets == 0) {
      ++counters.tx_error_bad_destination;
      ++taken;
      continue;
    }
    const std::size_t sent = flush_batch(packets.subspan(taken, batch_.packets), counters);
    taken += sent;
    if (sent < batch_.packets) {
      ++counters.tx_would_block;
      break;
    }
  }
  return taken;
}

// Number of packets at the front that one system call may carry: only the last one may be shorter.
std::size_t BurstSender::run_length(std::span<const wire::TxPacket> packets) const {
  const wire::TxPacket& first = packets.front();
  const std::size_t segment = bytes_of(first);
  if (!gso_on() || segment == 0 || segment > options_.segment_bytes_max) return 1;
  const std::size_t most =
      std::min({packets.size(), kUdpBurstPacketsMax, kUdpBurstBytesMax / segment});
  std::size_t length = 1;
  while (length < most) {
    const wire::TxPacket& next = packets[length];
    const std::size_t bytes = bytes_of(next);
    if (next.path != first.path || next.traffic_class != first.traffic_class ||
        next.unmarked != first.unmarked || bytes > segment || bytes == 0 ||
        (next.destination != first.destination && *next.destination != *first.destination))
      break;
    ++length;
    if (bytes < segment) break;
  }
  return length;
}

bool BurstSender::resolve(const wire::TxPacket& packet, Destination& to) {
  const std::optional<DeviceAddress> address = decode_device_address(*packet.destination);
  const auto ports = address ? address->of(LocatorKind::kUdpPort) : std::span<const Locator>();
  if (ports.empty() || address->ip.family != options_.family || packet.path >= sockets_.size())
    return false;
  to.address = socket_address(address->ip,
                              static_cast<std::uint16_t>(ports[packet.path % ports.size()].value));
  to.link = egress_.link_for(address->ip, now_);
  if (address->ip.is_link_local()) {
    to.address.v6.sin6_scope_id =
        options_.scope;  // the scope in the address is only valid on the peer
  }
  return true;
}

// Adds as many messages of the first packet's socket as fit; none if its destination is invalid.
void BurstSender::fill_batch(std::span<const wire::TxPacket> packets) {
  batch_.messages = 0;
  batch_.packets = 0;
  while (batch_.packets < packets.size() && batch_.messages < kBatchMessages) {
    const auto rest = packets.subspan(batch_.packets);
    const std::size_t length = run_length(rest);
    const std::size_t index = batch_.messages;
    if (rest.front().path != packets.front().path || batch_.packets + length > kBatchPackets ||
        !resolve(rest.front(), batch_.destinations[index]))
      return;
    msghdr& message = batch_.headers[index].msg_hdr;
    build_message(rest.first(length), batch_.destinations[index], message,
                  &batch_.pieces[2 * batch_.packets], batch_.controls[index]);
    batch_.packets_in[index] = length;
    batch_.packets += length;
    ++batch_.messages;
  }
}

// `pieces` has room for two entries per packet. `message` refers to all arguments.
void BurstSender::build_message(std::span<const wire::TxPacket> run, Destination& to,
                                msghdr& message, iovec* pieces, Control& control) const {
  message.msg_name = &to.address.any;
  message.msg_namelen = to.address.size;
  iovec* piece = pieces;
  for (const wire::TxPacket& packet : run) {
    if (packet.header_bytes > 0)
      *piece++ = {const_cast<std::byte*>(packet.header.data()), packet.header_bytes};
    if (!packet.payload.empty()) {
      fetch(packet.payload);
      *piece++ = {const_cast<std::byte*>(packet.payload.data()), packet.payload.size()};
    }
  }
  message.msg_iov = pieces;
  message.msg_iovlen = static_cast<std::size_t>(piece - pieces);
  message.msg_flags = 0;
  message.msg_control = control.bytes.data();
  message.msg_controllen = 0;
  const int tos = tos_of(options_.tos, run.front());
  if (options_.family == IpFamily::kV4)
    put_control(message, IPPROTO_IP, IP_TOS, tos);
  else
    put_control(message, IPPROTO_IPV6, IPV6_TCLASS, tos);
  if (to.link != 0) name_link(message, egress_.own(), to.link);
  if (run.size() > 1)
    put_control(message, SOL_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(bytes_of(run.front())));
}

// Returns the number of packets of the batch that were handled. It is less than the batch if the
// buffer is full.
std::size_t BurstSender::flush_batch(std::span<const wire::TxPacket> packets,
                                     UdpCounters& counters) {
  const int fd = sockets_[packets.front().path];
  std::size_t done = 0;
  std::size_t message = 0;
  int stale_errors = 0;
  while (message < batch_.messages) {
    const auto left = static_cast<unsigned>(batch_.messages - message);
    ++counters.tx_syscalls;
    int sent = 1;
    if (left == 1)
      sent = ::sendmsg(fd, &batch_.headers[message].msg_hdr, MSG_DONTWAIT) < 0 ? -1 : 1;
    else
      sent = ::sendmmsg(fd, &batch_.headers[message], left, MSG_DONTWAIT);
    for (int i = 0; i < sent; ++i) {
      const std::size_t count = batch_.packets_in[message++];
      count_sent(packets.subspan(done, count), counters);
      done += count;
    }
    if (sent > 0 || errno == EINTR) continue;
    if (is_would_block(errno)) return done;
    if (may_be_stale(errno) && stale_errors++ < kStaleErrorsMax) continue;
    const auto run = packets.subspan(done, batch_.packets_in[message]);
    if (run.size() > 1 && may_refuse_gso(errno)) {
      const std::size_t taken = send_singly(run, counters);
      done += taken;
      if (taken < run.size()) return done;
    } else {
      count_error(errno, run, counters);
      done += run.size();
    }
    ++message;
  }
  return done;
}

// The link of a known route may be down, so the route to the run's peer is queried again.
void BurstSender::count_error(int error, std::span<const wire::TxPacket> run,
                              UdpCounters& counters) {
  std::uint64_t UdpCounters::*const counter = counter_of(error);
  counters.*counter += run.size();
  const bool unreachable = counter == &UdpCounters::tx_error_unreachable;
  const bool forbidden = counter == &UdpCounters::tx_error_not_permitted;
  if (unreachable || forbidden) refused_ = {*run.front().destination, error};
  if (forbidden) not_permitted_error_ = error;
  if (unreachable) {
    if (const auto peer = decode_device_address(*run.front().destination)) egress_.forget(peer->ip);
  }
}

void BurstSender::pause_gso() {
  constexpr Duration kPauseMin = 1s;
  constexpr Duration kPauseMax = 64s;
  gso_pause_ = std::clamp(2 * gso_pause_, kPauseMin, kPauseMax);
  gso_again_at_ = now_ + gso_pause_;
}

// Sends a run that was rejected as a whole packet by packet. If the kernel accepts its first
// packet, which is as large as any, it rejected the segmentation. If it accepts only the last one,
// which may be shorter, the others are too large for the route.
std::size_t BurstSender::send_singly(std::span<const wire::TxPacket> run, UdpCounters& counters) {
  Destination to;
  resolve(run.front(), to);
  std::size_t done = 0;
  while (done < run.size()) {
    std::array<iovec, 2> pieces;
    Control control;
    msghdr message{};
    build_message(run.subspan(done, 1), to, message, pieces.data(), control);
    ++counters.tx_syscalls;
    if (::sendmsg(sockets_[run.front().path], &message, MSG_DONTWAIT) >= 0) {
      count_sent(run.subspan(done, 1), counters);
      if (done == 0 && gso_on()) pause_gso();
      ++done;
    } else if (is_would_block(errno)) {
      break;
    } else if (errno != EINTR) {
      count_error(errno, run.subspan(done, 1), counters);
      ++done;
    }
  }
  return done;
}

}  // namespace dlcp::datapath
