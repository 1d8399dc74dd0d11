// The probing half of `dlcp doctor --peer`: measures what the network between two hosts does to
// size, marks and delivery, path by path. Measures only; path_report judges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/doctor/mark_socket.h"
#include "cli/doctor/port_check.h"
#include "dlcp/traffic_class.h"
#include "util/result.h"
#include "wire/echo_frame.h"

namespace dlcp::cli {

struct PathProbeOptions {
  datapath::IpAddress peer;
  std::vector<std::uint16_t> meeting_ports;  // where the listener may be found
  std::size_t paths = 16;                    // source ports, 1..256
  std::size_t probes = 100;                  // per path, for loss and delay
  Duration interval = 500us;                 // between probes of all paths together
  ProbeSource from{};
};

struct MarkResult {
  TrafficClass traffic_class = TrafficClass::kControl;
  std::uint8_t sent = 0;                // TOS byte, both ways
  std::optional<std::uint8_t> forward;  // as it arrived at the peer; nothing: no answer
  std::optional<std::uint8_t> back;     // as the answer arrived here
};

struct LaneResult {  // one source port, to one of the listener's
  std::uint16_t port = 0;
  std::size_t sent = 0;
  std::size_t seen = 0;     // by the peer
  std::size_t replies = 0;  // that came back
  Duration rtt_median{};
  Duration rtt_max{};
  std::uint16_t to_port = 0;
};

// All that follows the ports stays empty when there is no open port on the way there, or back.
struct PathMeasurement {
  PortsResult there;            // the listener's ports, when we begin
  PortsResult back;             // ours, when the listener begins
  bool answers = false;         // probes of data ports are answered
  std::size_t route_mtu = 0;    // of our side's route, IP header included
  std::size_t mtu_forward = 0;  // largest IP packet that got there
  std::size_t mtu_both = 0;     // largest that got there and back
  std::vector<MarkResult> marks;
  std::vector<LaneResult> lanes;  // worst first: by loss, then by delay
};

class PathProbe {
 public:
  static Result<PathProbe> open(const PathProbeOptions& options);

  // kRemote when the peer does not answer at all.
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
  std::vector<LaneResult> probe_lanes();
  void conclude(std::size_t lane, LaneResult& result);

  int send(std::size_t lane, std::size_t packet_bytes, std::size_t reply_packet_bytes,
           std::uint8_t tos);
  std::optional<Answer> receive(std::size_t lane, Duration wait);
  // Sends and waits for the answer to just this one; ask() a few times over.
  std::optional<Answer> ask_once(std::size_t lane, std::size_t packet_bytes,
                                 std::size_t reply_bytes, std::uint8_t tos);
  std::optional<Answer> ask(std::size_t packet_bytes, std::size_t reply_bytes, std::uint8_t tos);

  PathProbeOptions options_;
  PortCheck ports_;
  std::vector<MarkSocket> sockets_;      // lanes
  std::vector<std::uint16_t> to_ports_;  // of the lanes
  std::uint64_t session_ = 0;
  std::uint32_t sequence_ = 0;
  Duration patience_ = 300ms;  // for one answer; follows the measured round trip
  int last_error_ = 0;
  wire::Buffer frame_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{1} << 16);
};

}  // namespace dlcp::cli
