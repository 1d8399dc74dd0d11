// A UDP socket for measurements: packets are received in batches with the kernel's receive
// timestamp and their TTL; the kernel can cut sent data into datagrams (UDP_SEGMENT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "datapath/address/ip_address.h"
#include "util/result.h"
#include "util/system/fd.h"

namespace dlcp::cli {

class ProbeSocket {
 public:
  struct Arrival {
    std::span<const std::byte> bytes;
    datapath::SocketAddress from;
    std::int64_t at_ns = 0;         // CLOCK_REALTIME, as wall_ns()
    int ttl = -1;                   // on arrival; -1: not reported
    std::size_t segment_bytes = 0;  // size of the datagrams that the kernel merged; 0: one datagram
  };

  // Binds to a free port of the range that data uses.
  static Result<ProbeSocket> open(const datapath::IpAddress& local);

  // Passes received packets to `take`, at most a few hundred per call.
  void receive(const std::function<void(const Arrival&)>& take);
  // False if the kernel did not send it; segment_bytes 0: one datagram.
  bool send(std::span<const std::byte> bytes, const datapath::SocketAddress& to,
            std::uint16_t segment_bytes = 0) const;

  std::uint16_t port() const { return port_; }
  int descriptor() const { return fd_.get(); }

 private:
  explicit ProbeSocket(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
  std::uint16_t port_ = 0;
};

// The clock of the kernel's timestamps.
std::int64_t wall_ns();

}  // namespace dlcp::cli
