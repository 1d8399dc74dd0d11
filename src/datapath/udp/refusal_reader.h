// Reads from the sockets' error queues what peers' hosts say of ports that nobody has open (ICMP
// port unreachable): the first sign of a process that was killed. Anybody can forge that; the
// quoted bytes of our packet are handed on, so that the core can ask the connection it belonged to.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "datapath/udp/udp_counters.h"
#include "util/fd.h"
#include "util/result.h"

namespace dlcp::datapath {

class RefusalReader {
 public:
  // `sockets` have IP_RECVERR on, stay the caller's and outlive this.
  static Result<std::unique_ptr<RefusalReader>> open(std::vector<int> sockets);

  // Polls readable while there is something to read; edge-triggered, so read all of it.
  int wait_descriptor() const { return epoll_.get(); }
  // The first bytes of one packet of ours that the peer itself has refused; empty when there is
  // none, or none left. Valid until the next call.
  std::span<const std::byte> next(UdpCounters& counters);

 private:
  RefusalReader(std::vector<int> sockets, Fd epoll);

  static constexpr std::size_t kQuotedBytes = 64;  // more than a frame's head

  std::vector<int> sockets_;
  std::vector<std::size_t> failing_;  // of sockets_, not read to the end yet
  Fd epoll_;
  std::array<std::byte, kQuotedBytes> quoted_{};
};

}  // namespace dlcp::datapath
