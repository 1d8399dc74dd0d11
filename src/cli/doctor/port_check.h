// Which UDP ports two hosts can use between them: the first thing that `dlcp doctor --peer` finds
// out. Prober and listener meet at a known port; the listener names random ports of the range that
// data uses, and calls the prober at random ports of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/doctor/mark_socket.h"
#include "util/result.h"
#include "wire/echo_frame.h"

namespace dlcp::cli {

// The address and link by which to probe; without an address the kernel chooses both.
struct ProbeSource {
  std::optional<datapath::IpAddress> ip;
  int link = 0;

  // A socket for probes to and from addresses of the family.
  Result<MarkSocket> open(datapath::IpFamily family) const;
};

struct PortsResult {
  std::vector<std::uint16_t> open;                  // destination ports that let a packet through
  std::vector<std::uint16_t> closed;                // that let none of several through
  std::optional<datapath::IpAddress> other_sender;  // of calls from another address than the peer's
};

class PortCheck {
 public:
  // `meeting_ports` are tried side by side.
  static Result<PortCheck> open(const datapath::IpAddress& peer,
                                std::span<const std::uint16_t> meeting_ports,
                                const ProbeSource& from = {});

  // kRemote when nobody answers at any of them.
  Status meet();
  Duration round_trip() const { return round_trip_; }

  // The listener's port for probes of this path; 0 when the answer is lost time and again.
  std::uint16_t data_port(std::uint16_t path);
  // At least so many of a session's probes of one path has the listener seen, asked where answers
  // are known to pass.
  std::uint32_t seen(std::uint64_t session, std::uint16_t path);
  // The listener sends first, as a peer does that opens a connection.
  Result<PortsResult> calls(std::size_t ports);

 private:
  PortCheck(const datapath::IpAddress& peer, const ProbeSource& from) : peer_(peer), from_(from) {}

  // Asks `attempts` times, each with a number of its own, until an answer comes.
  std::optional<wire::EchoReply> ask(const MarkSocket& socket, wire::EchoRequest request,
                                     int attempts);
  // From which address the call came.
  std::optional<datapath::IpAddress> call(const MarkSocket& called, std::uint16_t path);

  datapath::IpAddress peer_;
  ProbeSource from_;
  std::vector<MarkSocket> meeting_;  // one per meeting port
  std::vector<std::uint16_t> ports_;
  std::size_t answering_ = 0;  // index of the one that answered
  std::uint64_t session_ = 0;
  std::uint32_t sequence_ = 0;
  Duration round_trip_ = 0ns;
  Duration patience_ = 300ms;
  int last_error_ = 0;
  wire::Buffer frame_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{1} << 12);
};

}  // namespace dlcp::cli
