// The listening half of `dlcp doctor --peer`: answers echo requests and tells each prober what
// arrived. Probers find it at the ports where they meet, and probe the data ports that it names:
// random ones of the range that data uses. From further ones it calls a prober that asks for it, as
// a peer would that begins a conversation. Remembers a bounded number of probers; never answers
// with more bytes than it was asked with. It also tells the devices of this host.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/doctor/device_list.h"
#include "cli/doctor/mark_socket.h"
#include "util/result.h"
#include "wire/echo_frame.h"

namespace dlcp::cli {

// Where prober and listener meet. Either is enough: one is outside the range that data uses, so
// that a firewall that closes the range is found out; one is inside, so that a firewall that opens
// nothing else is none. It is above the ports that Linux gives to others.
inline constexpr std::array<std::uint16_t, 2> kMeetingPorts = {48555, 61555};

class EchoResponder {
 public:
  // On every address of the families that this host has; fails when it can have neither, or not
  // all of `ports`.
  static Result<EchoResponder> open(std::span<const std::uint16_t> ports);

  // Answers what arrives within `wait`; returns how many requests it answered.
  std::size_t serve(Duration wait);

  std::uint64_t strangers() const { return strangers_; }  // datagrams that were no sound request
  std::size_t sessions() const { return sessions_.size(); }
  // Addresses whose probes began since this was last called.
  std::vector<std::string> take_newcomers() { return std::exchange(newcomers_, {}); }

 private:
  struct Session {
    std::uint64_t last_used = 0;  // in requests answered, to forget the oldest
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
  bool tell_devices(const MarkSocket& socket, const MarkSocket::Received& received);
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
  std::uint64_t strangers_ = 0;
};

}  // namespace dlcp::cli
