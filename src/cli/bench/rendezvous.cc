#include "cli/bench/rendezvous.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "cli/bench/bench_case.h"
#include "cli/bench/clock.h"
#include "cli/bench/frames.h"

namespace dlcp::cli {
namespace {

struct Fd {
  int value = -1;
  explicit Fd(int fd) : value(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (value >= 0) close(value);
  }
  int release() { return std::exchange(value, -1); }
};

std::int64_t deadline_after(double seconds) {
  return now_ns() + static_cast<std::int64_t>(seconds * 1e9);
}

std::string hello(const World& world, const std::string& options) {
  return fmt::format("{} {} {} {}", world.rank, world.size, DLCP_VERSION, options);
}

int open_listener(int port) {
  Fd fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int one = 1;
  const int off = 0;
  bool v6 = fd.value >= 0;
  if (!v6) fd.value = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  setsockopt(fd.value, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  any6.sin6_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  any4.sin_port = htons(static_cast<std::uint16_t>(port));
  if (v6) setsockopt(fd.value, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const auto* address =
      v6 ? reinterpret_cast<const sockaddr*>(&any6) : reinterpret_cast<const sockaddr*>(&any4);
  if (bind(fd.value, address, v6 ? sizeof any6 : sizeof any4) != 0 || listen(fd.value, 1024) != 0)
    throw BenchError(ExitCode::kUsage,
                     fmt::format("cannot listen on port {} for the other ranks: {}; give another "
                                 "--rendezvous port",
                                 port, std::strerror(errno)));
  return fd.release();
}

// The rank that speaks on a new connection.
int read_hello(int fd, const World& world, const std::string& options, std::int64_t deadline) {
  FrameReader reader(fd);
  std::optional<Frame> frame;
  while (!frame && !reader.ended() && now_ns() < deadline)
    frame = reader.read(100);
  if (!frame || frame->type != FrameType::kHello) return -1;  // a stranger
  const int rank = std::atoi(frame->body.c_str());
  World other = world;
  other.rank = rank;
  if (frame->body != hello(other, options))
    throw BenchError(ExitCode::kUsage,
                     fmt::format("rank {} was started with other options, or is another version: "
                                 "'{}' there, '{}' here",
                                 rank, frame->body, hello(other, options)));
  return rank;
}

}  // namespace

std::vector<int> gather_ranks(const World& world, const std::string& options, double timeout) {
  const Fd listener(open_listener(world.port));
  const std::int64_t deadline = deadline_after(timeout);
  std::vector<int> sockets(static_cast<std::size_t>(world.size), -1);
  for (int missing = world.size - 1; missing > 0;) {
    pollfd wait{listener.value, POLLIN, 0};
    if (poll(&wait, 1, 100) > 0) {
      Fd fd(accept4(listener.value, nullptr, nullptr, SOCK_CLOEXEC));
      const int rank = fd.value < 0 ? -1 : read_hello(fd.value, world, options, deadline);
      if (rank > 0 && rank < world.size) {
        if (sockets[static_cast<std::size_t>(rank)] >= 0)
          throw BenchError(ExitCode::kUsage, fmt::format("rank {} came twice", rank));
        sockets[static_cast<std::size_t>(rank)] = fd.release();
        missing--;
      }
    }
    if (now_ns() > deadline)
      throw BenchError(ExitCode::kTimeout,
                       fmt::format("{} of {} ranks did not come to port {} within {} s", missing,
                                   world.size, world.port, timeout));
  }
  return sockets;
}

int join_ranks(const World& world, const std::string& options, double timeout) {
  const std::int64_t deadline = deadline_after(timeout);
  std::string why = "no address";
  while (now_ns() < deadline) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* raw = nullptr;
    const int looked =
        getaddrinfo(world.host.c_str(), std::to_string(world.port).c_str(), &hints, &raw);
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(raw, freeaddrinfo);
    if (looked != 0) why = gai_strerror(looked);
    for (const addrinfo* a = looked == 0 ? raw : nullptr; a != nullptr; a = a->ai_next) {
      Fd fd(socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const int one = 1;
      setsockopt(fd.value, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      if (connect(fd.value, a->ai_addr, a->ai_addrlen) != 0) {
        why = std::strerror(errno);
        continue;
      }
      if (write_frame(fd.value, FrameType::kHello, hello(world, options))) return fd.release();
    }
    usleep(100'000);
  }
  throw BenchError(ExitCode::kTimeout, fmt::format("rank 0 is not to be reached at {}:{}: {}",
                                                   world.host, world.port, why));
}

}  // namespace dlcp::cli
