// One connection of the reference plugin: a control socket, N data sockets, and up to 32 requests
// that progress only while test() is called for the oldest of them. A 4-byte length is sent on the
// control socket; the payload follows there, or is split over the data sockets if it is large and
// there are any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nccl/abi/types.h"

namespace reftcp {

using dlcp::nccl::ResultCode;

inline constexpr std::size_t kMaxDataSockets = 16;
inline constexpr std::size_t kSplitBytes = 64 * 1024;  // smallest piece for a data socket

struct Connection;

struct Request {
  Connection* owner = nullptr;
  bool used = false;
  std::byte* data = nullptr;
  std::size_t posted = 0;       // size of the receive buffer, or of the data to send
  std::uint32_t length = 0;     // the message's own length, once known
  std::size_t header = 0;       // bytes of `length` moved so far
  std::size_t inline_done = 0;  // payload bytes moved on the control socket
  std::array<std::size_t, kMaxDataSockets> done{};  // and on each data socket
};

struct Connection {
  bool sending = false;
  int control = -1;
  std::vector<int> data;
  std::array<Request, dlcp::nccl::kMaxRequests> requests;

  ~Connection();
  Request* take_request();  // nullptr when all are in use
  // Moves as many bytes as the sockets accept; `finished`: the whole message has moved.
  ResultCode progress(Request& request, bool& finished);

 private:
  ResultCode progress_header(Request& request);
  ResultCode progress_split(Request& request, bool& finished);
};

}  // namespace reftcp
