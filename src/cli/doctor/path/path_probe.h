// The probing half of `dlcp doctor --peer`: measures packet size, DSCP and ECN marks, loss and
// delay between two hosts, path by path. It only measures; path_report judges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/doctor/path/mark_socket.h"
#include "cli/doctor/peer/port_check.h"
#include "dlcp/class_overrides.h"
#include "util/result.h"
#include "wire/frames/echo_frame.h"

namespace dlcp::cli {

struct PathProbeOptions {
  datapath::IpAddress peer;
  std::vector<std::uint16_t> meeting_ports;  // ports to try for the listener
  std::size_t paths = 16;                    // source ports, 1..256
  std::size_t probes = 100;                  // per path, for loss and delay
  Duration interval = 500us;                 // between probes, all paths together
  ProbeSource from{};
  TrafficClassTable classes = kTrafficClasses;  // whose marks are tried
};

struct MarkResult {
  TrafficClass traffic_class = TrafficClass::kControl;
  std::uint8_t sent = 0;                // TOS byte, in both directions
  std::optional<std::uint8_t> forward;  // as it arrived at the peer; nullopt: no answer
  std::optional<std::uint8_t> back;     // as the answer arrived here
};

struct LaneResult {  // one source port, to one of the listener's ports
  std::uint16_t port = 0;
  std::size_t sent = 0;
  std::size_t seen = 0;     // received by the peer
  std::size_t replies = 0;  // answers received
  Duration rtt_median{};
  Duration rtt_max{};
  std::uint16_t to_port = 0;
  std::size_t marked_there = 0;  // answered probes that arrived with a congestion mark (CE)
  std::size_t marked_back = 0;   // answers that arrived with one
};

// The members after `answers` stay empty if it is false.
struct PathMeasurement {
  PortsResult there;            // the listener's ports, for packets from this host first
  PortsResult back;             // local ports, for packets from the listener first
  bool answers = false;         // probes of data ports are answered
  std::size_t route_mtu = 0;    // of the local route, IP header included
  std::size_t mtu_needed = 0;   // the least with which jobs run
  std::size_t mtu_forward = 0;  // largest IP packet that arrived at the peer
  std::size_t mtu_both = 0;     // largest IP packet whose answer also arrived
  std::vector<MarkResult> marks;
  std::vector<LaneResult> lanes;  // worst first: by loss, then by delay
};

class PathProbe {
 public:
  static Result<PathProbe> open(const PathProbeOptions& options);

  // kRemote if the peer does not answer at all.
  Result<PathMeasurement> measure();

 private:
  struct Answer {
    wire::EchoReply reply;
    std::uint8_t tos = 0;
    Duration rtt{};
  };

  PathProbe(const PathProbeOptions& options, PortCheck ports)
      : options_(options), ports_(std::move(ports)) {}

  Status open_lanes();
  PortsResult knock(bool& answers);
  bool passes(std::size_t packet_bytes, bool both_ways);
  std::size_t largest(std::size_t limit, bool both_ways);
  MarkResult probe_marks(const TrafficClassRow& row);
  std::vector<LaneResult> probe_lanes(std::size_t packet_bytes, std::uint8_t tos);
  void conclude(std::size_t lane, LaneResult& result);

  int send(std::size_t lane, std::size_t packet_bytes, std::size_t reply_packet_bytes,
           std::uint8_t tos);
  std::optional<Answer> receive(std::size_t lane, Duration wait);
  // Sends one request and waits for its answer; ask() repeats this.
  std::optional<Answer> ask_once(std::size_t lane, std::size_t packet_bytes,
                                 std::size_t reply_bytes, std::uint8_t tos);
  std::optional<Answer> ask(std::size_t packet_bytes, std::size_t reply_bytes, std::uint8_t tos);

  PathProbeOptions options_;
  PortCheck ports_;
  std::vector<MarkSocket> sockets_;      // lanes
  std::vector<std::uint16_t> to_ports_;  // destination ports of the lanes
  std::uint64_t session_ = 0;
  std::uint32_t sequence_ = 0;
  Duration patience_ = 300ms;  // timeout for one answer; follows the measured RTT
  int last_error_ = 0;
  wire::Buffer frame_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{1} << 16);
};

}  // namespace dlcp::cli
