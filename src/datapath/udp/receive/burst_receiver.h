// The receiving half of the UDP datapath: asks epoll which sockets are readable, reads whole GRO
// buffers from them, and returns their datagrams one by one with ECN, DSCP and arrival time. The
// bytes stay in the buffers until the next call; core copies them from there.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datapath/address/ip_address.h"
#include "datapath/udp/receive/stamp_clock.h"
#include "datapath/udp/udp_counters.h"
#include "util/result.h"
#include "util/system/fd.h"
#include "wire/packet.h"

namespace dlcp::datapath {

class BurstReceiver {
 public:
  // `sockets` are those that peers send to. The caller keeps ownership; they must outlive this
  // object.
  static Result<std::unique_ptr<BurstReceiver>> open(std::vector<int> sockets);

  // See Datapath::receive.
  std::size_t receive(Time now, std::span<wire::RxPacket> out, UdpCounters& counters);

  int wait_descriptor() const { return epoll_.get(); }

 private:
  static constexpr std::size_t kBufferBytes = 65536;
  static constexpr std::size_t kBuffers =
      8;  // few, so that their content is still in the cache when it is copied
  static constexpr std::size_t kReadySockets = 32;  // reported by one epoll_wait

  struct alignas(cmsghdr) Control {
    std::array<std::byte, 128> bytes;  // timestamp, TOS, GRO and overflow messages need 104
  };
  // The result of one read: one datagram, or several of equal size that GRO has merged.
  struct Buffer {
    std::size_t bytes = 0;
    std::size_t segment_bytes = 0;
    Time arrived_at;
    std::uint32_t socket = 0;  // index of the socket that it was read from
    std::uint8_t tos = 0;
    wire::HostAddress source;
  };
  BurstReceiver(std::vector<int> sockets, Fd epoll);

  std::size_t drain(std::span<wire::RxPacket> out, UdpCounters& counters);
  bool find_ready(UdpCounters& counters);
  bool guess_ready(Time now);
  void read_socket(std::uint32_t socket, std::size_t room, Time now, UdpCounters& counters);
  void take_control(const msghdr& message, Time now, Buffer& buffer, UdpCounters& counters);

  std::vector<int> sockets_;
  std::vector<std::uint32_t> queue_drops_;  // by socket, as last reported by the kernel
  Fd epoll_;
  StampClock clock_;

  std::unique_ptr<std::byte[]> memory_;  // kBuffers * kBufferBytes
  std::array<Buffer, kBuffers> buffers_;
  std::size_t filled_ = 0;   // buffers in use
  std::size_t current_ = 0;  // the first of them that is not completely handed out
  std::size_t offset_ = 0;   // bytes of it handed out

  std::array<std::uint32_t, kReadySockets> ready_{};  // sockets reported by epoll and not read yet
  std::size_t ready_begin_ = 0;
  std::size_t ready_end_ = 0;
  std::uint32_t last_socket_ = 0;   // the last one with data
  Time guess_until_ = Time::min();  // until then, polls read last_socket_ without asking epoll
  unsigned guesses_ = 0;
  std::size_t appetite_ = 1;  // buffers to request from a socket; grows while sockets have more
  std::size_t merged_ = 1;    // datagrams in the last buffer read

  std::array<mmsghdr, kBuffers> headers_;
  std::array<iovec, kBuffers> pieces_;
  std::array<Control, kBuffers> controls_;
  std::array<SocketAddress, kBuffers> sources_;
};

}  // namespace dlcp::datapath
