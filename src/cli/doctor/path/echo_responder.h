// The listening half of `dlcp doctor --peer`: answers echo requests and reports to each prober
// which probes arrived. Probers reach it at the meeting ports and then probe the data ports that it
// names: random ports of the range that data uses. On request it also sends first, from other
// random ports, as a peer does that opens a connection. It keeps state of a bounded number of
// probers, never answers with more bytes than the request had, and reports the devices of this
// host.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/doctor/path/mark_socket.h"
#include "cli/doctor/peer/device_list.h"
#include "util/result.h"
#include "wire/frames/echo_frame.h"

namespace dlcp::cli {

// Ports where prober and listener meet; one that works is enough. One is outside the range that
// data uses, so that a firewall that closes the range is detected. The other is inside, so that a
// firewall that opens only that range does not block the check. It is above Linux's ephemeral
// ports.
inline constexpr std::array<std::uint16_t, 2> kMeetingPorts = {48555, 61555};

class EchoResponder {
 public:
  // Listens on every address family of this host. Fails if it can use neither, or cannot bind all
  // of `ports`.
  static Result<EchoResponder> open(std::span<const std::uint16_t> ports);

  // Answers requests that arrive within `wait`; returns how many it answered.
  std::size_t serve(Duration wait);

  std::uint64_t invalid_requests() const {
    return invalid_requests_;
  }  // datagrams that were not valid requests
  std::size_t sessions() const { return sessions_.size(); }
  // Addresses that have begun to probe since the last call.
  std::vector<std::string> take_newcomers() { return std::exchange(newcomers_, {}); }

 private:
  struct Session {
    std::uint64_t last_used = 0;  // in answered requests, to forget the oldest
    std::array<std::uint32_t, 256> seen{};
  };

  // The sockets of one address family.
  struct Family {
    std::vector<MarkSocket> meeting, data, calling;
  };

  static Result<Family> open_family(datapath::IpFamily family,
                                    std::span<const std::uint16_t> ports);
  std::vector<const MarkSocket*> answering(const Family& family) const;
  bool answer(const Family& family, const MarkSocket& socket);
  bool send_devices(const MarkSocket& socket, const MarkSocket::Received& received);
  std::uint32_t count_request(const wire::EchoRequest& request,
                              const datapath::SocketAddress& from);
  void call(const Family& family, const wire::EchoRequest& request,
            const MarkSocket::Received& received);

  std::vector<Family> families_;
  std::vector<NamedDevice> devices_;  // of this host
  std::vector<std::string> newcomers_;
  std::map<std::uint64_t, Session> sessions_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{1} << 16);
  wire::Buffer reply_;
  std::uint64_t answered_ = 0;
  std::uint64_t invalid_requests_ = 0;
};

}  // namespace dlcp::cli
