// Reads the sockets' error queues: ICMP errors about sent packets. The peer's host rejects packets
// if the process has ended, or its firewall does. Such errors can be forged; the quoted bytes of
// the packet are therefore passed to the core, which asks the connection that sent it. The last
// report about each destination is kept for error messages.
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
  // `sockets` have IP_RECVERR on. The caller keeps ownership; they must outlive this object.
  static Result<std::unique_ptr<RefusalReader>> open(std::vector<int> sockets);

  // Readable while errors are available. Edge-triggered, so the caller must read all of them.
  int wait_descriptor() const { return epoll_.get(); }
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

  RefusalReader(std::vector<int> sockets, Fd epoll);
  void keep(Kept report);

  static constexpr std::size_t kQuotedBytes = 64;  // more than a frame's head

  std::vector<int> sockets_;
  std::vector<std::size_t> failing_;  // indexes in sockets_ of those not read to the end
  Fd epoll_;
  std::array<std::byte, kQuotedBytes> quoted_{};
  std::deque<Kept> reports_;  // newest last
};

}  // namespace dlcp::datapath
