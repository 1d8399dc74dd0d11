// Reads the error queues of the sending sockets: ICMP errors about sent packets. The peer's host
// rejects packets if the process has ended, or its firewall does. Such errors can be forged; the
// quoted bytes of the packet are therefore passed to the core, which asks the connection that sent
// it. The last report about each destination is kept for error messages.
//
// The sockets are polled once per millisecond. If epoll watched them, the kernel would call it for
// every packet that leaves: 4% of its time in an all-to-all of 8 ranks without offloads.
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "datapath/address/device_address.h"
#include "datapath/path_report.h"
#include "datapath/udp/udp_counters.h"
#include "util/time.h"

namespace dlcp::datapath {

class RefusalReader {
 public:
  // `sockets` have IP_RECVERR on. The caller keeps ownership; they must outlive this object.
  explicit RefusalReader(const std::vector<int>& sockets);

  // The first bytes of one sent packet that the peer's own host rejected; empty if there are no
  // more. Valid until the next call.
  std::span<const std::byte> next(Time now, UdpCounters& counters);
  // The last report about packets to that peer; kNothing if there is none.
  PathReport last_report(const DeviceAddress& peer) const;

 private:
  struct Kept {
    IpAddress to;
    std::uint16_t port = 0;
    PathReport report;
  };

  void find_failing(Time now);
  void keep(Kept report);

  static constexpr std::size_t kQuotedBytes = 64;  // more than a frame's head

  std::vector<pollfd> sockets_;
  std::vector<int> failing_;  // of these, those not read to the end
  Time next_poll_ = Time::min();
  std::array<std::byte, kQuotedBytes> quoted_{};
  std::deque<Kept> reports_;  // newest last
};

}  // namespace dlcp::datapath
