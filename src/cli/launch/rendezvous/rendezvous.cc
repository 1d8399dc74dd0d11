#include "cli/launch/rendezvous/rendezvous.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "cli/command_line/output/moving_line.h"
#include "cli/launch/bench_error.h"
#include "cli/launch/clock.h"
#include "cli/launch/rendezvous/frames.h"
#include "cli/launch/rendezvous/gathering.h"
#include "util/system/host_name.h"
#include "util/system/long_connection.h"
#include "util/system/system_text.h"
#include "util/text/host_port.h"
#include "util/text/printable.h"

namespace dlcp::cli {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

std::int64_t deadline_after(double seconds) {
  return now_ns() + static_cast<std::int64_t>(seconds * 1e9);
}

double seconds_since(std::int64_t then) {
  return static_cast<double>(now_ns() - then) * 1e-9;
}

Addresses look_up(const World& world, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  const int looked =
      getaddrinfo(world.host.c_str(), std::to_string(world.port).c_str(), &hints, &raw);
  if (looked != 0) why = gai_strerror(looked);
  return {looked == 0 ? raw : nullptr, freeaddrinfo};
}

std::string own_name() {
  const std::string name = host_name();
  return name.empty() ? "this host" : name;
}

std::string place_of(const World& world) {
  return join_host_port(world.host, world.port);
}

// Whether one of the addresses belongs to this host.
bool is_here(const addrinfo* addresses) {
  for (const addrinfo* a = addresses; a != nullptr; a = a->ai_next) {
    const Fd fd(socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage address{};
    std::memcpy(&address, a->ai_addr, a->ai_addrlen);
    if (a->ai_family == AF_INET) reinterpret_cast<sockaddr_in&>(address).sin_port = 0;
    if (a->ai_family == AF_INET6) reinterpret_cast<sockaddr_in6&>(address).sin6_port = 0;
    if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), a->ai_addrlen) == 0)
      return true;
  }
  return false;
}

// Checks that world.host, to which the other ranks connect, is this host.
void check_host(const World& world) {
  std::string why;
  const Addresses addresses = look_up(world, why);
  if (addresses == nullptr)
    throw BenchError(
        ExitCode::kUsage,
        fmt::format("the ranks cannot connect at '{}': {}; give --rendezvous HOST[:PORT] with "
                    "the host of rank 0 ({})",
                    world.host, why, own_name()));
  if (is_here(addresses.get())) return;
  const std::string what = fmt::format("rank 0 runs on {}, but the ranks are told to connect to {}",
                                       own_name(), world.host);
  // An address that the user gave may be forwarded to this host, so it only gets a warning. A
  // launcher's host name is not forwarded.
  if (world.host_is_guess)
    throw BenchError(ExitCode::kUsage, fmt::format("{}; give --rendezvous {}", what, own_name()));
  fmt::print(stderr, "dlcp bench: {}, which is not an address of this host\n", what);
}

Fd connect_to(const addrinfo* addresses, std::string& why) {
  for (const addrinfo* a = addresses; a != nullptr; a = a->ai_next) {
    Fd fd(socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    prepare_long_connection(fd.get());
    // An address that does not answer must not use up the time of the next ones.
    constexpr timeval kPatience{2, 0}, kNone{0, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    const bool connected = connect(fd.get(), a->ai_addr, a->ai_addrlen) == 0;
    why = connected ? "" : system_text(errno == EINPROGRESS ? ETIMEDOUT : errno);
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kNone, sizeof kNone);
    if (connected) return fd;
  }
  return Fd();
}

// A proxy between the hosts accepts a connection before rank 0 listens, and then closes it.
constexpr double kProxySeconds = 2;

// Waits until rank 0 starts the run or stops it. False if the connection was closed soon, without a
// message of rank 0.
bool await_word(int fd, const World& world, std::int64_t deadline, MovingLine& line) {
  FrameReader reader(fd);
  const std::int64_t begin = now_ns();
  while (now_ns() < deadline && !reader.ended()) {
    const auto frame = reader.read(100);
    if (frame && frame->type == FrameType::kWelcome) return true;
    if (frame && frame->type == FrameType::kStop)
      throw BenchError(ExitCode::kUsage, fmt::format("rank {}: rank 0 stopped the run: {}",
                                                     world.rank, printable(frame->body)));
    line.show(fmt::format("rank {} is connected to rank 0 and waits for the other ranks, {:.0f} s",
                          world.rank, seconds_since(begin)));
  }
  if (reader.ended() && seconds_since(begin) < kProxySeconds) return false;
  throw BenchError(reader.ended() ? ExitCode::kTransport : ExitCode::kTimeout,
                   fmt::format("rank {}: rank 0 at {} {}", world.rank, place_of(world),
                               reader.ended() ? "closed the connection before all ranks were "
                                                "connected; see the output of rank 0"
                                              : "was reached, but not all ranks connected in "
                                                "time"));
}

}  // namespace

std::vector<int> gather_ranks(const World& world, const std::string& options, double timeout) {
  check_host(world);
  Gathering gathering(world, options);
  const std::int64_t begin = now_ns();
  const std::int64_t deadline = deadline_after(timeout);
  {
    MovingLine line;
    while (!gathering.missing().empty() && gathering.failure().empty() && now_ns() < deadline) {
      gathering.serve(100);
      const auto missing = gathering.missing();
      line.show(fmt::format("{} of {} ranks at {}, {:.0f} s; missing: {}",
                            static_cast<std::size_t>(world.size) - missing.size(), world.size,
                            place_of(world), seconds_since(begin), rank_ranges(missing)));
    }
  }
  const bool late = gathering.failure().empty();
  if (late && gathering.missing().empty()) return gathering.let_go();
  gathering.fail(fmt::format("{} {} of {} did not connect to {} (TCP) within {:g} s",
                             gathering.missing().size() == 1 ? "rank" : "ranks",
                             rank_ranges(gathering.missing()), world.size, place_of(world),
                             timeout));
  if (!late) {
    gathering.refuse_all();
    throw BenchError(ExitCode::kUsage, gathering.failure());
  }
  gathering.tell();
  throw BenchError(ExitCode::kTimeout, gathering.failure() +
                                           "; check that they were started, and that no firewall "
                                           "blocks this port");
}

int join_ranks(const World& world, const std::string& options, double timeout) {
  const std::int64_t begin = now_ns();
  // Rank 0 has the same time-out and the better message, so wait a little longer.
  const std::int64_t deadline = deadline_after(timeout + 5);
  std::string why = "no address";
  MovingLine line;
  while (now_ns() < deadline) {
    const Addresses addresses = look_up(world, why);
    Fd fd = connect_to(addresses.get(), why);
    if (fd.valid() && write_frame(fd.get(), FrameType::kHello, hello_of(world, options))) {
      if (await_word(fd.get(), world, deadline, line)) return fd.release();
      why = "the connection was closed at once";
    }
    line.show(fmt::format("rank {} tries to connect to rank 0 at {}, {:.0f} s: {}", world.rank,
                          place_of(world), seconds_since(begin), why));
    usleep(100'000);
  }
  throw BenchError(ExitCode::kTimeout,
                   fmt::format("rank {}: cannot connect to rank 0 at {} (TCP): {}; check that "
                               "rank 0 runs, and that no firewall blocks this port",
                               world.rank, place_of(world), why));
}

}  // namespace dlcp::cli
