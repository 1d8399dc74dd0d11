// A UDP socket for measuring: what arrives comes with the kernel's time of arrival and its TTL,
// many at a time; what leaves can be cut by the kernel (UDP_SEGMENT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "datapath/ip_address.h"
#include "util/fd.h"
#include "util/result.h"

namespace dlcp::cli {

class ProbeSocket {
 public:
  struct Arrival {
    std::span<const std::byte> bytes;
    datapath::SocketAddress from;
    std::int64_t at_ns = 0;         // CLOCK_REALTIME, as wall_ns()
    int ttl = -1;                   // that was left; -1: not told
    std::size_t segment_bytes = 0;  // of what the kernel merged; 0: one datagram
  };

  // On any free port of those that data uses.
  static Result<ProbeSocket> open(const datapath::IpAddress& local);

  // Hands out what is there, at most a few hundred arrivals.
  void receive(const std::function<void(const Arrival&)>& take);
  // False when it did not leave; segment_bytes 0: one datagram.
  bool send(std::span<const std::byte> bytes, const datapath::SocketAddress& to,
            std::uint16_t segment_bytes = 0) const;

  std::uint16_t port() const { return port_; }
  int descriptor() const { return fd_.get(); }

 private:
  explicit ProbeSocket(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
  std::uint16_t port_ = 0;
};

// The clock of the kernel's stamps.
std::int64_t wall_ns();

}  // namespace dlcp::cli
