// The sending half of the UDP datapath: finds runs of packets for one system call (same path,
// destination, class and size), and passes them to the kernel with UDP_SEGMENT, marked with the
// DSCP and ECN of their class. It keeps no packets: those that the kernel does not accept now
// remain with the caller; those that the kernel rejects individually are lost and counted.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "datapath/address/ip_address.h"
#include "datapath/path_report.h"
#include "datapath/udp/send/egress.h"
#include "datapath/udp/udp_counters.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::datapath {

inline constexpr std::size_t kUdpBurstPacketsMax = 64;   // UDP_MAX_SEGMENTS of older kernels
inline constexpr std::size_t kUdpBurstBytesMax = 65507;  // one IPv4 datagram before segmentation

class BurstSender {
 public:
  struct Options {
    IpFamily family = IpFamily::kV4;
    std::uint32_t scope = 0;  // of the local interface, for link-local destinations
    std::size_t segment_bytes_max =
        1472;  // larger packets are sent one by one: the kernel cannot segment to them
    bool gso = true;
    std::array<std::uint8_t, kTrafficClassCount> tos{};
  };

  // `sockets` are the paths, in order. The caller keeps ownership.
  BurstSender(const Options& options, std::vector<int> sockets, Egress egress = Egress());

  // See Datapath::send.
  std::size_t send(std::span<const wire::TxPacket> packets, Time now, UdpCounters& counters);

  // False for 1 s after the kernel rejected segmentation, then for twice the time each, up to 64 s:
  // a route or driver may reject it, and routes change.
  bool gso_on() const { return options_.gso && now_ >= gso_again_at_; }

  // The last peer to which the kernel refused to send since the previous call, because there is no
  // route or because a rule forbids it.
  std::optional<RefusedPeer> take_refused() { return std::exchange(refused_, std::nullopt); }
  // The last error that was counted as not permitted: EPERM or EACCES.
  int not_permitted_error() const { return not_permitted_error_; }

 private:
  static constexpr std::size_t kBatchMessages = 32;
  static constexpr std::size_t kBatchPackets = 144;
  static constexpr std::size_t kControlBytes =
      CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(std::uint16_t)) + CMSG_SPACE(sizeof(in6_pktinfo));

  struct alignas(cmsghdr) Control {
    std::array<std::byte, kControlBytes> bytes;
  };
  struct Destination {
    SocketAddress address;
    int link = 0;  // index of the interface to use; 0: the kernel decides
  };
  // Messages of one socket for one system call.
  struct Batch {
    std::size_t messages = 0;
    std::size_t packets = 0;
    std::array<mmsghdr, kBatchMessages> headers;
    std::array<std::size_t, kBatchMessages> packets_in;
    std::array<Destination, kBatchMessages> destinations;
    std::array<Control, kBatchMessages> controls;
    std::array<iovec, 2 * kBatchPackets> pieces;
  };

  std::size_t run_length(std::span<const wire::TxPacket> packets) const;
  bool resolve(const wire::TxPacket& packet, Destination& to);
  void fill_batch(std::span<const wire::TxPacket> packets);
  std::size_t flush_batch(std::span<const wire::TxPacket> packets, UdpCounters& counters);
  std::size_t send_singly(std::span<const wire::TxPacket> run, UdpCounters& counters);
  void build_message(std::span<const wire::TxPacket> run, Destination& to, msghdr& message,
                     iovec* pieces, Control& control) const;
  void count_error(int error, std::span<const wire::TxPacket> run, UdpCounters& counters);
  void pause_gso();

  Options options_;
  std::vector<int> sockets_;
  Egress egress_;
  Time now_{};
  Time gso_again_at_ = Time::min();
  Duration gso_pause_{0};  // the last one
  int not_permitted_error_ = 0;
  std::optional<RefusedPeer> refused_;
  Batch batch_;
};

}  // namespace dlcp::datapath
