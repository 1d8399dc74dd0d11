#include "socket_pair.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace reftcp {
namespace {

// Moves up to `bytes`; adds the moved bytes to `done`. A closed or broken socket means that the
// peer has ended.
ResultCode move_bytes(int fd, bool sending, std::byte* data, std::size_t bytes, std::size_t& done) {
  while (done < bytes) {
    const ssize_t n = sending ? send(fd, data + done, bytes - done, MSG_NOSIGNAL | MSG_DONTWAIT)
                              : recv(fd, data + done, bytes - done, MSG_DONTWAIT);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return ResultCode::kSuccess;
    return ResultCode::kRemoteError;
  }
  return ResultCode::kSuccess;
}

}  // namespace

Connection::~Connection() {
  if (control >= 0) close(control);
  for (const int fd : data)
    if (fd >= 0) close(fd);
}

Request* Connection::take_request() {
  for (Request& request : requests) {
    if (request.used) continue;
    request = Request{};
    request.owner = this;
    request.used = true;
    return &request;
  }
  return nullptr;
}

ResultCode Connection::progress_header(Request& request) {
  if (request.header == sizeof request.length) return ResultCode::kSuccess;
  if (!sending) {
    auto* bytes = reinterpret_cast<std::byte*>(&request.length);
    const ResultCode code =
        move_bytes(control, false, bytes, sizeof request.length, request.header);
    if (code != ResultCode::kSuccess) return code;
    if (request.header == sizeof request.length && request.length > request.posted)
      return ResultCode::kInvalidUsage;  // the message would not fit
    return ResultCode::kSuccess;
  }
  // The length and the beginning of the payload are sent in one call.
  const bool split = !data.empty() && request.length >= kSplitBytes;
  iovec pieces[2] = {{reinterpret_cast<std::byte*>(&request.length) + request.header,
                      sizeof request.length - request.header},
                     {request.data, split ? 0 : request.length}};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  const ssize_t n = sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0)
    return errno == EAGAIN || errno == EINTR ? ResultCode::kSuccess : ResultCode::kRemoteError;
  const std::size_t moved = static_cast<std::size_t>(n);
  const std::size_t of_header = std::min(moved, pieces[0].iov_len);
  request.header += of_header;
  request.inline_done += moved - of_header;
  return ResultCode::kSuccess;
}

ResultCode Connection::progress_split(Request& request, bool& finished) {
  const std::size_t length = request.length;
  const std::size_t piece = std::max(kSplitBytes, (length + data.size() - 1) / data.size());
  finished = true;
  for (std::size_t i = 0; i < data.size() && i * piece < length; i++) {
    const std::size_t bytes = std::min(piece, length - i * piece);
    const ResultCode code =
        move_bytes(data[i], sending, request.data + i * piece, bytes, request.done[i]);
    if (code != ResultCode::kSuccess) return code;
    if (request.done[i] < bytes) finished = false;
  }
  return ResultCode::kSuccess;
}

ResultCode Connection::progress(Request& request, bool& finished) {
  finished = false;
  const ResultCode code = progress_header(request);
  if (code != ResultCode::kSuccess || request.header < sizeof request.length) return code;
  if (!data.empty() && request.length >= kSplitBytes) return progress_split(request, finished);
  const ResultCode moved =
      move_bytes(control, sending, request.data, request.length, request.inline_done);
  finished = request.inline_done == request.length;
  return moved;
}

}  // namespace reftcp
