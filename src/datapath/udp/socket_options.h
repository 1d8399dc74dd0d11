// Integer options of a socket, and the values in the control messages that recvmsg returns.
#pragma once

#include <sys/socket.h>

#include <cstring>

namespace dlcp::datapath {

// Returns false, with errno set, if the kernel rejects the option.
inline bool set_option(int fd, int level, int name, int value) {
  return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

// The payload of a control message, copied because the kernel does not align it for T.
template <class T>
T control_value(const cmsghdr& header) {
  T value{};
  std::memcpy(&value, CMSG_DATA(&header), sizeof value);
  return value;
}

}  // namespace dlcp::datapath
