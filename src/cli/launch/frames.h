// Length-prefixed frames between a rank and the coordinator, over a socket pair or TCP.
// Frame: 4-byte length of what follows, 1-byte type, bytes. Only the bench's own processes speak
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dlcp::cli {

enum class FrameType : std::uint8_t {
  kHello = 1,     // rank -> coordinator, TCP only: gathering.h
  kExchange = 2,  // rank -> coordinator: my part; back: all parts, each with a 4-byte length
  kResult = 3,    // rank -> coordinator: what came of it (JSON)
  kStop = 4,      // coordinator -> rank: give up; the reason
  kWelcome = 5,   // coordinator -> rank, TCP only: all ranks are there
};

struct Frame {
  FrameType type;
  std::string body;
};

// False when the other side is gone.
bool write_frame(int fd, FrameType type, const std::string& body);

class FrameReader {
 public:
  explicit FrameReader(int fd) : fd_(fd) {}

  // The next whole frame if it is there; waits up to `timeout_ms` for more bytes (0: does not
  // wait).
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
