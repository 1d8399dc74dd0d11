// Length-prefixed frames between a rank and the coordinator, over a socket pair or TCP.
// Frame: 4-byte length of what follows, 1-byte type, bytes. Used between processes of one run only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dlcp::cli {

enum class FrameType : std::uint8_t {
  kHello = 1,     // rank -> coordinator, TCP only: gathering.h
  kExchange = 2,  // rank -> coordinator: its part; back: all parts, each with a 4-byte length
  kResult = 3,    // rank -> coordinator: the result, JSON
  kStop = 4,      // coordinator -> rank: stop; the reason
  kWelcome = 5,   // coordinator -> rank, TCP only: all ranks have connected
};

struct Frame {
  FrameType type;
  std::string body;
};

// Returns false if the other side has closed the connection.
bool write_frame(int fd, FrameType type, const std::string& body);

class FrameReader {
 public:
  explicit FrameReader(int fd) : fd_(fd) {}

  // The next whole frame, if there is one. Waits up to `timeout_ms` for more bytes (0: no wait).
  std::optional<Frame> read(int timeout_ms);
  bool ended() const { return ended_; }
  int fd() const { return fd_; }

 private:
  std::optional<Frame> take();

  int fd_;
  bool ended_ = false;
  std::string buffer_;
};

}  // namespace dlcp::cli
