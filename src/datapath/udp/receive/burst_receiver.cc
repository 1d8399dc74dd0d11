// Reads sockets and splits GRO buffers; see the header.
//
// Two measurements determine the design. An epoll_wait without events costs a third of a read
// without data, so an idle poll only calls epoll, even for one socket. Requesting many buffers from
// an almost empty socket costs another look at its queue, so the number requested starts at one
// after each idle poll.
#include "datapath/udp/receive/burst_receiver.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "datapath/udp/socket_options.h"
#include "util/system/system_text.h"

namespace dlcp::datapath {
namespace {

constexpr std::size_t kAppetiteMax = 8;
constexpr Duration kGuessTime = 50us;  // a few round trips; a poller that slept longer asks epoll

wire::HostAddress host_of(const SocketAddress& from) {
  switch (from.any.sa_family) {
    case AF_INET:
      return wire::host_address(std::as_bytes(std::span(&from.v4.sin_addr, 1)));
    case AF_INET6:
      return wire::host_address(std::as_bytes(std::span(&from.v6.sin6_addr, 1)));
    default:
      return {};
  }
}

Error system_error(std::string what) {
  return Error{ErrorCode::kSystem, fmt::format("{}: {}", what, system_text(errno)),
               "raise the limit on open files (ulimit -n)"};
}

// Sandboxes may refuse the call. Without this check the peer would seem to be silent.
Status check_reading(int socket) {
  std::byte byte;
  iovec piece{&byte, 1};
  mmsghdr header{};
  header.msg_hdr.msg_iov = &piece;
  header.msg_hdr.msg_iovlen = 1;
  if (::recvmmsg(socket, &header, 1, MSG_DONTWAIT, nullptr) >= 0 || errno == EAGAIN ||
      errno == EWOULDBLOCK || errno == EINTR)
    return Unit{};
  return Error{ErrorCode::kSystem,
               fmt::format("cannot read from a UDP socket (recvmmsg): {}", system_text(errno)),
               "permit recvmmsg in the seccomp profile or policy of the container"};
}

}  // namespace

Result<std::unique_ptr<BurstReceiver>> BurstReceiver::open(std::vector<int> sockets) {
  for (const int socket : sockets)
    if (auto checked = check_reading(socket); !checked) return checked.error();
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return system_error("cannot open an epoll descriptor");
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = static_cast<std::uint32_t>(i);
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, sockets[i], &event) != 0)
      return system_error("cannot watch a UDP socket");
  }
  return std::unique_ptr<BurstReceiver>(new BurstReceiver(std::move(sockets), std::move(epoll)));
}

BurstReceiver::BurstReceiver(std::vector<int> sockets, Fd epoll)
    : sockets_(std::move(sockets)),
      queue_drops_(sockets_.size(), 0),
      epoll_(std::move(epoll)),
      memory_(std::make_unique_for_overwrite<std::byte[]>(kBuffers * kBufferBytes)) {
  for (std::size_t i = 0; i < kBuffers; ++i) {
    pieces_[i] = {memory_.get() + i * kBufferBytes, kBufferBytes};
    headers_[i] = {};
    headers_[i].msg_hdr.msg_iov = &pieces_[i];
    headers_[i].msg_hdr.msg_iovlen = 1;
  }
}

std::size_t BurstReceiver::receive(Time now, std::span<wire::RxPacket> out, UdpCounters& counters) {
  std::size_t count = drain(out, counters);
  if (count == out.size()) return count;
  if (count == 0)  // otherwise packets of this call are still in the buffers
    filled_ = current_ = 0;
  if (ready_begin_ == ready_end_ && !guess_ready(now) && !find_ready(counters)) return count;
  while (count < out.size() && filled_ < kBuffers && ready_begin_ != ready_end_) {
    read_socket(ready_[ready_begin_++], out.size() - count, now, counters);
    count += drain(out.subspan(count), counters);
  }
  return count;
}

// Returns datagrams from the buffers.
std::size_t BurstReceiver::drain(std::span<wire::RxPacket> out, UdpCounters& counters) {
  std::size_t count = 0;
  while (current_ < filled_ && count < out.size()) {
    const Buffer& buffer = buffers_[current_];
    const std::byte* base = memory_.get() + current_ * kBufferBytes;
    while (offset_ < buffer.bytes && count < out.size()) {
      const std::size_t bytes = std::min(buffer.segment_bytes, buffer.bytes - offset_);
      wire::RxPacket& packet = out[count++];
      packet.bytes = {base + offset_, bytes};
      packet.arrived_at = buffer.arrived_at;
      packet.ecn = static_cast<Ecn>(buffer.tos & 3);
      packet.dscp = static_cast<std::uint8_t>(buffer.tos >> 2);
      packet.source = buffer.source;
      offset_ += bytes;
      counters.rx_bytes += bytes;
    }
    if (offset_ >= buffer.bytes) {
      ++current_;
      offset_ = 0;
    }
  }
  counters.rx_packets += count;
  return count;
}

// Assumes that the socket of the last packets has more. One poll in four still asks epoll, so that
// the other sockets wait no longer than three polls.
bool BurstReceiver::guess_ready(Time now) {
  if (now >= guess_until_ || ++guesses_ % 4 == 0) return false;
  ready_[0] = last_socket_;
  ready_begin_ = 0;
  ready_end_ = 1;
  return true;
}

bool BurstReceiver::find_ready(UdpCounters& counters) {
  std::array<epoll_event, kReadySockets> events;
  ++counters.rx_syscalls;
  const int found = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  ready_begin_ = ready_end_ = 0;
  if (found <= 0) {
    appetite_ = 1;
    return false;
  }
  for (int i = 0; i < found; ++i)
    ready_[ready_end_++] = events[static_cast<std::size_t>(i)].data.u32;
  return true;
}

// Reads no more buffers than `room` datagrams are likely to need; further ones would leave the
// cache before they are used.
void BurstReceiver::read_socket(std::uint32_t socket, std::size_t room, Time now,
                                UdpCounters& counters) {
  const std::size_t wanted =
      std::min({appetite_, kBuffers - filled_, (room + merged_ - 1) / merged_});
  for (std::size_t i = 0; i < wanted; ++i) {
    msghdr& message = headers_[filled_ + i].msg_hdr;
    message.msg_control = controls_[filled_ + i].bytes.data();
    message.msg_controllen = sizeof(Control);
    message.msg_name = &sources_[filled_ + i].v6;
    message.msg_namelen = sizeof sources_[filled_ + i].v6;
  }
  ++counters.rx_syscalls;
  const int read = ::recvmmsg(sockets_[socket], &headers_[filled_], static_cast<unsigned>(wanted),
                              MSG_DONTWAIT, nullptr);
  if (read <= 0) {
    appetite_ = 1;
    return;  // nothing to read, or an error that this read has cleared
  }
  clock_.refresh(now);
  const auto got = static_cast<std::size_t>(read);
  guess_until_ = socket == last_socket_ ? now + kGuessTime : Time::min();
  last_socket_ = socket;
  appetite_ = got == wanted ? std::min(2 * appetite_, kAppetiteMax) : std::max<std::size_t>(got, 1);
  for (std::size_t i = 0; i < got; ++i) {
    const mmsghdr& header = headers_[filled_];
    Buffer& buffer = buffers_[filled_];
    ++filled_;
    buffer = {};
    buffer.socket = socket;
    buffer.source = host_of(sources_[filled_ - 1]);
    buffer.arrived_at = now;
    ++counters.rx_buffers;
    if ((header.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
      ++counters.rx_truncated;
      continue;  // zero bytes: drain() skips it
    }
    buffer.bytes = header.msg_len;
    buffer.segment_bytes = header.msg_len;
    take_control(header.msg_hdr, now, buffer, counters);
    merged_ =
        std::max<std::size_t>(buffer.bytes / std::max<std::size_t>(buffer.segment_bytes, 1), 1);
  }
}

void BurstReceiver::take_control(const msghdr& message, Time now, Buffer& buffer,
                                 UdpCounters& counters) {
  auto* iterable = const_cast<msghdr*>(&message);  // the CMSG macros require a non-const message
  for (cmsghdr* header = CMSG_FIRSTHDR(iterable); header != nullptr;
       header = CMSG_NXTHDR(iterable, header)) {
    const int level = header->cmsg_level;
    const int type = header->cmsg_type;
    if (level == SOL_SOCKET && type == SCM_TIMESTAMPNS) {
      const auto stamp = control_value<timespec>(*header);
      buffer.arrived_at =
          clock_.at(now, std::int64_t{stamp.tv_sec} * 1'000'000'000 + stamp.tv_nsec);
    } else if (level == SOL_SOCKET && type == SO_RXQ_OVFL) {
      const auto drops = control_value<std::uint32_t>(*header);  // since the socket was opened
      counters.rx_queue_drops += drops - queue_drops_[buffer.socket];
      queue_drops_[buffer.socket] = drops;
    } else if (level == IPPROTO_IP && type == IP_TOS) {
      buffer.tos = control_value<std::uint8_t>(*header);
    } else if (level == IPPROTO_IPV6 && type == IPV6_TCLASS) {
      buffer.tos = static_cast<std::uint8_t>(control_value<int>(*header));
    } else if (level == SOL_UDP && type == UDP_GRO) {
      const int segment = control_value<int>(*header);
      if (segment > 0) buffer.segment_bytes = static_cast<std::size_t>(segment);
    }
  }
}

}  // namespace dlcp::datapath
