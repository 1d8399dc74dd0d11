// The listening half of `dlcp doctor --peer`: answers echo requests and tells each prober what
// arrived. Remembers a bounded number of probers; never answers with more bytes than it was asked
// with.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "cli/doctor/mark_socket.h"
#include "util/result.h"
#include "wire/echo_frame.h"

namespace dlcp::cli {

inline constexpr std::uint16_t kEchoPort = 48555;

class EchoResponder {
 public:
  // On every address of the families that this host has; fails when it can have neither.
  static Result<EchoResponder> open(std::uint16_t port);

  // Answers what arrives within `wait`; returns how many requests it answered.
  std::size_t serve(Duration wait);

  std::uint64_t strangers() const { return strangers_; }  // datagrams that were no sound request
  std::size_t sessions() const { return sessions_.size(); }

 private:
  struct Session {
    std::uint64_t last_used = 0;  // in requests answered, to forget the oldest
    std::array<std::uint32_t, 256> seen{};
  };

  bool answer(const MarkSocket& socket);
  std::uint32_t count_request(const wire::EchoRequest& request);

  std::vector<MarkSocket> sockets_;
  std::map<std::uint64_t, Session> sessions_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{1} << 16);
  wire::Buffer reply_;
  std::uint64_t answered_ = 0;
  std::uint64_t strangers_ = 0;
};

}  // namespace dlcp::cli
