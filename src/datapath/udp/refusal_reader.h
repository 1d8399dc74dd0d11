// Reads the sockets' error queues: ICMP errors about packets that were sent. The peer's own host
// rejects packets when the process was killed, or by a firewall. Anybody can forge that; the quoted
// bytes of our packet are handed on, so that the core can ask the connection it belonged to. The
// last report about each destination is kept for error messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "datapath/device_address.h"
#include "datapath/path_report.h"
#include "datapath/udp/udp_counters.h"
#include "util/fd.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::datapath {

class RefusalReader {
 public:
  // `sockets` have IP_RECVERR on, stay the caller's and outlive this.
  static Result<std::unique_ptr<RefusalReader>> open(std::vector<int> sockets);

  // Polls readable while there is something to read; edge-triggered, so read all of it.
  int wait_descriptor() const { return epoll_.get(); }
  // The first bytes of one packet of ours that the peer's own host has rejected; empty when there
  // is none, or none left. Valid until the next call.
  std::span<const std::byte> next(Time now, UdpCounters& counters);
  // The last report about packets to that peer; of kind kNothing if there was none.
  PathReport last_report(const DeviceAddress& peer) const;

 private:
  struct Kept {
    IpAddress to;
    std::uint16_t port = 0;
    PathReport report;
  };

  RefusalReader(std::vector<int> sockets, Fd epoll);
  void keep(Kept report);

  static constexpr std::size_t kQuotedBytes = 64;  // more than a frame's head

  std::vector<int> sockets_;
  std::vector<std::size_t> failing_;  // of sockets_, not read to the end yet
  Fd epoll_;
  std::array<std::byte, kQuotedBytes> quoted_{};
  std::deque<Kept> reports_;  // the newest last
};

}  // namespace dlcp::datapath
