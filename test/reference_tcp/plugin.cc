// libnccl-net-reftcp.so: non-blocking TCP behind NCCL's net interface (v8 and v11), the reference
// for comparison in `dlcp bench`. One listening socket per listen; connect and accept are polled
// and never wait. REFTCP_NSOCKS: number of data sockets in addition to the control socket (0:
// payload on the control socket, which is NCCL's default). REFTCP_CC: TCP congestion control, for
// example cubic.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "interface_choice.h"
#include "nccl/abi/net/net_v11.h"
#include "nccl/abi/net/net_v8.h"
#include "socket_pair.h"

namespace reftcp {
namespace {

using namespace dlcp::nccl;

DebugLogger g_logger = nullptr;
constexpr auto kOk = ResultCode::kSuccess;

// The first bytes on each new socket: its connection, and its index among the connection's sockets.
struct Greeting {
  std::uint64_t token;
  std::uint32_t index;  // 0 is the control socket
  std::uint32_t sockets;
};

struct Connecting {
  std::unique_ptr<Connection> connection = std::make_unique<Connection>();
  std::vector<int> sockets;
  std::size_t greeted = 0;
};

struct Handle {
  sockaddr_in6 address;  // an IPv4 address uses its first 16 bytes
  std::uint64_t token;
  Connecting* connecting;  // the connector's own state between calls
};
static_assert(sizeof(Handle) <= kHandleBytes);

struct Pending {
  int fd;
  Greeting greeting;
  std::size_t read;
};

struct Listener {
  int fd = -1;
  std::uint64_t token = 0;
  std::vector<Pending> pending;
  std::vector<int> sockets;  // by index, as their greetings arrive
  std::size_t greeted = 0;
};

std::size_t data_sockets() {
  const char* text = std::getenv("REFTCP_NSOCKS");
  const long n = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  return n < 0 ? 0 : std::min<std::size_t>(static_cast<std::size_t>(n), kMaxDataSockets);
}

ResultCode fail(const char* what) {
  if (g_logger != nullptr)
    g_logger(LogLevel::kWarn, kLogInit | kLogNet, __FILE__, __LINE__, "NET/REFTCP : %s: %s", what,
             std::strerror(errno));
  return ResultCode::kSystemError;
}

int open_socket(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fd;
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const char* control = std::getenv("REFTCP_CC");
  if (control != nullptr && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control,
                                       static_cast<socklen_t>(std::strlen(control))) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

ResultCode devices(int* count) {
  *count = choose_local_address() ? 1 : 0;
  return kOk;
}

template <class Properties>
ResultCode get_properties(int, Properties* p) {
  static char name[64];
  const auto local = choose_local_address();
  if (!local) return ResultCode::kSystemError;
  std::strncpy(name, local->interface.c_str(), sizeof name - 1);
  *p = Properties{};
  p->name = name;
  p->guid = 1;
  p->ptrSupport = kPtrHost;
  p->speed = 10000;
  p->maxComms = 65536;
  p->maxRecvs = 1;
  p->netDeviceType = kNetDeviceHost;
  p->netDeviceVersion = kNetDeviceInvalidVersion;
  if constexpr (requires { p->vProps; }) {
    p->vProps.ndevs = 1;
    p->maxP2pBytes = p->maxCollBytes = kMaxNetBytesInt;
    p->maxMultiRequestSize = 1;
  }
  return kOk;
}

ResultCode listen_on(int, void* handle, void** out) {
  const auto local = choose_local_address();
  if (!local) return fail("no usable interface (see NCCL_SOCKET_IFNAME)");
  auto listener = std::make_unique<Listener>();
  listener->fd = open_socket(local->address.ss_family);
  if (listener->fd < 0) return fail("socket (is the REFTCP_CC congestion control available?)");
  sockaddr_storage bound = local->address;
  socklen_t length = sizeof bound;
  if (bind(listener->fd, reinterpret_cast<const sockaddr*>(&bound), local->length) != 0 ||
      listen(listener->fd, 1024) != 0 ||
      getsockname(listener->fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    const ResultCode code = fail("listen");
    close(listener->fd);
    return code;
  }
  listener->token = reinterpret_cast<std::uintptr_t>(listener.get()) * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(getpid());
  Handle mine{};
  std::memcpy(&mine.address, &bound, std::min<std::size_t>(length, sizeof mine.address));
  mine.token = listener->token;
  std::memset(handle, 0, kHandleBytes);
  std::memcpy(handle, &mine, sizeof mine);
  *out = listener.release();
  return kOk;
}

ResultCode start_connecting(Handle& handle) {
  auto state = std::make_unique<Connecting>();
  state->connection->sending = true;
  const int family = handle.address.sin6_family;
  const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  for (std::size_t i = 0; i <= data_sockets(); i++) {
    const int fd = open_socket(family);
    if (fd < 0) return fail("socket (is the REFTCP_CC congestion control available?)");
    (i == 0 ? state->connection->control : state->connection->data.emplace_back()) = fd;
    state->sockets.push_back(fd);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&handle.address), length) != 0 &&
        errno != EINPROGRESS)
      return fail("connect");
  }
  handle.connecting = state.release();
  return kOk;
}

ResultCode connect_to(int, void* opaque, void** out, NetDeviceHandle**) {
  auto& handle = *static_cast<Handle*>(opaque);
  *out = nullptr;
  if (handle.connecting == nullptr) {
    const ResultCode code = start_connecting(handle);
    if (code != kOk) return code;
  }
  Connecting& state = *handle.connecting;
  while (state.greeted < state.sockets.size()) {
    const int fd = state.sockets[state.greeted];
    pollfd wait{fd, POLLOUT, 0};
    if (poll(&wait, 1, 0) == 0) return kOk;
    const Greeting greeting{handle.token, static_cast<std::uint32_t>(state.greeted),
                            static_cast<std::uint32_t>(state.sockets.size())};
    // An empty send buffer accepts these few bytes completely, unless the connection has failed.
    if (send(fd, &greeting, sizeof greeting, MSG_NOSIGNAL) != sizeof greeting) {
      fail("connect");
      delete handle.connecting;
      handle.connecting = nullptr;
      return ResultCode::kRemoteError;
    }
    state.greeted++;
  }
  *out = state.connection.release();
  delete handle.connecting;
  handle.connecting = nullptr;
  return kOk;
}

// Reads the available part of one socket's greeting; false if the socket must be dropped.
bool read_greeting(Listener& listener, Pending& pending) {
  auto* bytes = reinterpret_cast<char*>(&pending.greeting);
  const ssize_t n =
      recv(pending.fd, bytes + pending.read, sizeof(Greeting) - pending.read, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  pending.read += static_cast<std::size_t>(n);
  if (pending.read < sizeof(Greeting)) return true;
  const Greeting& greeting = pending.greeting;
  if (greeting.token != listener.token || greeting.sockets > kMaxDataSockets + 1 ||
      greeting.index >= greeting.sockets)
    return false;
  listener.sockets.resize(greeting.sockets, -1);
  if (listener.sockets[greeting.index] >= 0) return false;
  listener.sockets[greeting.index] = pending.fd;
  listener.greeted++;
  pending.fd = -1;
  return false;
}

ResultCode accept_from(void* opaque, void** out, NetDeviceHandle**) {
  auto& listener = *static_cast<Listener*>(opaque);
  *out = nullptr;
  int fd;
  while ((fd = accept4(listener.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    listener.pending.push_back({fd, {}, 0});
  }
  std::erase_if(listener.pending, [&](Pending& pending) {
    if (read_greeting(listener, pending)) return false;
    if (pending.fd >= 0) close(pending.fd);
    return true;
  });
  if (listener.sockets.empty() || listener.greeted < listener.sockets.size()) return kOk;
  auto* connection = new Connection;
  connection->control = listener.sockets[0];
  connection->data.assign(listener.sockets.begin() + 1, listener.sockets.end());
  listener.sockets.clear();
  listener.greeted = 0;
  *out = connection;
  return kOk;
}

ResultCode reg_mr(void*, void*, std::size_t, int type, void** mhandle) {
  *mhandle = nullptr;
  return type == kPtrHost ? kOk : ResultCode::kInternalError;
}
ResultCode dereg_mr(void*, void*) {
  return kOk;
}

ResultCode post(void* opaque, void* data, std::size_t size, void** out) {
  Request* request = static_cast<Connection*>(opaque)->take_request();
  *out = request;
  if (request == nullptr) return kOk;
  request->data = static_cast<std::byte*>(data);
  request->posted = size;
  if (request->owner->sending) request->length = static_cast<std::uint32_t>(size);
  return kOk;
}

ResultCode test(void* opaque, int* done, int* sizes) {
  auto* request = static_cast<Request*>(opaque);
  bool finished = false;
  *done = 0;
  const ResultCode code = request->owner->progress(*request, finished);
  if (code != kOk || !finished) return code;
  *done = 1;
  if (sizes != nullptr) *sizes = static_cast<int>(request->length);
  request->used = false;
  return kOk;
}

ResultCode iflush(void*, int, void**, int*, void**, void** request) {
  *request = nullptr;
  return ResultCode::kInternalError;  // host memory only
}

ResultCode close_connection(void* connection) {
  delete static_cast<Connection*>(connection);
  return kOk;
}

ResultCode close_listener(void* opaque) {
  std::unique_ptr<Listener> listener(static_cast<Listener*>(opaque));
  for (const Pending& pending : listener->pending)
    close(pending.fd);
  close(listener->fd);
  return kOk;
}

ResultCode isend_v8(void* c, void* data, int size, int, void*, void** request) {
  return post(c, data, static_cast<std::size_t>(size), request);
}
ResultCode irecv_v8(void* c, int n, void** data, int* sizes, int*, void**, void** request) {
  if (n != 1) return ResultCode::kInternalError;
  return post(c, data[0], static_cast<std::size_t>(sizes[0]), request);
}
ResultCode init_v8(DebugLogger logger) {
  g_logger = logger;
  return kOk;
}

ResultCode isend_v11(void* c, void* data, std::size_t size, int, void*, void*, void** request) {
  return post(c, data, size, request);
}
ResultCode irecv_v11(void* c, int n, void** data, std::size_t* sizes, int*, void**, void**,
                     void** request) {
  return n == 1 ? post(c, data[0], sizes[0], request) : ResultCode::kInternalError;
}
ResultCode init_v11(void** ctx, std::uint64_t, NetCommConfigV11*, DebugLogger logger,
                    ProfilerCallback) {
  *ctx = nullptr;
  return init_v8(logger);
}
ResultCode listen_v11(void*, int dev, void* handle, void** out) {
  return listen_on(dev, handle, out);
}
ResultCode connect_v11(void*, int dev, void* handle, void** out, NetDeviceHandle** device) {
  return connect_to(dev, handle, out, device);
}
ResultCode finalize(void*) {
  return kOk;
}

}  // namespace
}  // namespace reftcp

using namespace reftcp;

extern "C" __attribute__((visibility("default"))) const NetV8 ncclNetPlugin_v8 = {
    "REFTCP",       init_v8,    devices,          get_properties<NetPropertiesV8>,
    listen_on,      connect_to, accept_from,      reg_mr,
    nullptr,        dereg_mr,   isend_v8,         irecv_v8,
    iflush,         test,       close_connection, close_connection,
    close_listener, nullptr,    nullptr,
};

extern "C" __attribute__((visibility("default"))) const NetV11 ncclNetPlugin_v11 = {
    "REFTCP",       init_v11,    devices,          get_properties<NetPropertiesV11>,
    listen_v11,     connect_v11, accept_from,      reg_mr,
    nullptr,        dereg_mr,    isend_v11,        irecv_v11,
    iflush,         test,        close_connection, close_connection,
    close_listener, nullptr,     nullptr,          nullptr,
    finalize,       nullptr,
};
