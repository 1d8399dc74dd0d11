// Finds the UDP ports that two hosts can use between them: the first check of `dlcp doctor --peer`.
// Prober and listener meet at a known port. The listener names random ports of the range that data
// uses, and sends to the prober's random ports.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/doctor/path/mark_socket.h"
#include "util/result.h"
#include "wire/frames/echo_frame.h"

namespace dlcp::cli {

// Source address and link of the probes; without an address the kernel chooses both.
struct ProbeSource {
  std::optional<datapath::IpAddress> ip;
  int link = 0;

  // A socket for probes between addresses of this family.
  Result<MarkSocket> open(datapath::IpFamily family) const;
};

// Identifies the frames of one run, so that late answers to an earlier one are ignored.
std::uint64_t random_session();
Duration local_clock();

struct PortsResult {
  std::vector<std::uint16_t> open;    // destination ports at which a packet arrived
  std::vector<std::uint16_t> closed;  // destination ports at which none of several packets arrived
  std::optional<datapath::IpAddress> other_sender;  // source of calls, if not the peer's address
};

class PortCheck {
 public:
  // All `meeting_ports` are tried at the same time.
  static Result<PortCheck> open(const datapath::IpAddress& peer,
                                std::span<const std::uint16_t> meeting_ports,
                                const ProbeSource& from = {});

  // kRemote if no meeting port answers.
  Status meet();
  Duration round_trip() const { return round_trip_; }

  // The listener's port for probes of this path; 0 if several requests get no answer.
  std::uint16_t data_port(std::uint16_t path);
  // The least number of a session's probes of one path that the listener has received. Uses a port
  // whose answers are known to arrive.
  std::uint32_t seen(std::uint64_t session, std::uint16_t path);
  // The listener sends first, like a peer that opens a connection.
  Result<PortsResult> calls(std::size_t ports);

 private:
  PortCheck(const datapath::IpAddress& peer, const ProbeSource& from) : peer_(peer), from_(from) {}

  // Sends up to `attempts` requests, each with its own number, until an answer arrives.
  std::optional<wire::EchoReply> ask(const MarkSocket& socket, wire::EchoRequest request,
                                     int attempts);
  // Source address of the call.
  std::optional<datapath::IpAddress> call(const MarkSocket& called, std::uint16_t path);

  datapath::IpAddress peer_;
  ProbeSource from_;
  std::vector<MarkSocket> meeting_;  // one per meeting port
  std::vector<std::uint16_t> ports_;
  std::size_t answering_ = 0;  // index of the meeting port that answered
  std::uint64_t session_ = 0;
  std::uint32_t sequence_ = 0;
  Duration round_trip_ = 0ns;
  Duration patience_ = 300ms;
  int last_error_ = 0;
  wire::Buffer frame_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{1} << 12);
};

}  // namespace dlcp::cli
