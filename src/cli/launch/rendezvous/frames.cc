#include "cli/launch/rendezvous/frames.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace dlcp::cli {

namespace {
constexpr std::uint32_t kLongest = 64 << 20;
}  // namespace

bool write_frame(int fd, FrameType type, const std::string& body) {
  const auto length = static_cast<std::uint32_t>(body.size() + 1);
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes += static_cast<char>(type);
  bytes += body;
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      poll(&wait, 1, 100);
      continue;
    }
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<Frame> FrameReader::take() {
  std::uint32_t length = 0;
  if (buffer_.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, buffer_.data(), sizeof length);
  if (length == 0 || length > kLongest) {
    ended_ = true;  // not this protocol
    return std::nullopt;
  }
  if (buffer_.size() < sizeof length + length) return std::nullopt;
  Frame frame{static_cast<FrameType>(buffer_[sizeof length]),
              buffer_.substr(sizeof length + 1, length - 1)};
  buffer_.erase(0, sizeof length + length);
  return frame;
}

std::optional<Frame> FrameReader::read(int timeout_ms) {
  if (auto frame = take()) return frame;
  while (!ended_) {
    pollfd wait{fd_, POLLIN, 0};
    if (poll(&wait, 1, timeout_ms) <= 0) return std::nullopt;
    char bytes[65536];
    const ssize_t n = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    if (n <= 0) {
      ended_ = true;
      return std::nullopt;
    }
    buffer_.append(bytes, static_cast<std::size_t>(n));
    if (auto frame = take()) return frame;
  }
  return std::nullopt;
}

}  // namespace dlcp::cli
