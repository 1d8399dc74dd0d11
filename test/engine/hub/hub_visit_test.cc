// A rank's visit to a hub whose host name has two addresses; the test plays the hub.
#include "engine/hub/hub_visit.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.h"
#include "host_names.h"

using namespace dlcp;
using namespace dlcp::engine;

namespace {

constexpr HubChallenge kChallenge{3, 4};
constexpr wire::Key kToken{5, 6};
constexpr const char* kFirst = "127.0.0.2";
constexpr const char* kSecond = "127.0.0.1";

HubJoin join() {
  HubJoin made;
  made.us.ranks = 2;
  made.us.hubs = 1;
  made.us.granule = 1408;
  made.us.block_bytes_max = 42 * made.us.granule;
  made.us.staging = 1 << 20;
  made.timeout_s = 30;
  return made;
}

Fd socket_of(const char* ip, std::uint16_t port, sockaddr_in& address) {
  address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, ip, &address.sin_addr);
  return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Listens there for one connection; not valid if the port is in use.
Fd listening(const char* ip, std::uint16_t port) {
  sockaddr_in address;
  Fd socket = socket_of(ip, port, address);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket.get(), any, sizeof address) != 0 || ::listen(socket.get(), 0) != 0) return Fd();
  return socket;
}

std::uint16_t port_of(const Fd& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

// A port that is free on both addresses, with a listener on each.
struct BothAddresses {
  BothAddresses() {
    for (int attempt = 0; attempt < 50 && !second.valid(); ++attempt) {
      first = listening(kFirst, 0);
      port = port_of(first);
      second = listening(kSecond, port);
    }
    REQUIRE(second.valid());
  }
  Fd first, second;
  std::uint16_t port = 0;
};

// Fills the listener's queue, so that the kernel drops further attempts to connect.
std::vector<Fd> fill(const char* ip, std::uint16_t port) {
  std::vector<Fd> callers;
  for (int i = 0; i < 4; ++i) {
    sockaddr_in address;
    callers.push_back(socket_of(ip, port, address));
    (void)::connect(callers.back().get(), reinterpret_cast<const sockaddr*>(&address),
                    sizeof address);
    ::poll(nullptr, 0, 20);
  }
  return callers;
}

void serve_one_rank(const Fd& listener) {
  pollfd calls{listener.get(), POLLIN, 0};
  if (::poll(&calls, 1, 30'000) != 1) return;
  const Fd rank(::accept(listener.get(), nullptr, nullptr));
  const auto send = [&](const HubFrame& frame) {
    (void)::send(rank.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
  };
  send(encode(kChallenge));
  std::vector<std::byte> read;
  while (hub_frame_bytes(read) != read.size()) {
    std::byte buffer[kHubFrameBytesMax];
    const auto got = ::recv(rank.get(), buffer, sizeof buffer, 0);
    if (got <= 0) return;
    read.insert(read.end(), buffer, buffer + got);
  }
  if (decode_hub_join(read, kChallenge, kToken)) send(encode(HubAnswer{}, kChallenge, kToken));
}

// Of this process's connections to the port: after how many idle seconds TCP sends probes.
std::vector<int> idle_before_probes(std::uint16_t port) {
  std::vector<int> seconds;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
        peer.sin_family != AF_INET || ntohs(peer.sin_port) != port)
      continue;
    int idle = 0, probes = 0;
    size = sizeof idle;
    ::getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, &size);
    ::getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &probes, &size);
    seconds.push_back(probes != 0 ? idle : 1 << 20);
  }
  return seconds;
}

Result<VisitedHubs> visit(std::uint16_t port, Duration timeout) {
  const HubPlace place{test::kTwoAddresses, port};
  return visit_hubs({&place, 1}, join(), kToken, timeout);
}

}  // namespace

TEST_CASE("if a hub's first address refuses, the next one is called") {
  BothAddresses both;
  both.first.reset();
  std::thread hub([&] { serve_one_rank(both.second); });
  auto visited = visit(both.port, 20s);
  hub.join();
  REQUIRE(visited.ok());
  CHECK(visited->peers.size() == 1);
  const auto idle = idle_before_probes(both.port);
  REQUIRE(idle.size() == 1);
  CHECK(idle[0] <= 120);
}

TEST_CASE("if a hub's first address is silent, the next one is called after half of the time") {
  BothAddresses both;
  const auto callers = fill(kFirst, both.port);
  std::thread hub([&] { serve_one_rank(both.second); });
  const auto visited = visit(both.port, 6s);
  hub.join();
  CHECK(visited.ok());
}

TEST_CASE("if a program at a hub's first address sends nothing, the next address is called") {
  BothAddresses both;  // the kernel accepts connections at both
  std::thread hub([&] { serve_one_rank(both.second); });
  const auto visited = visit(both.port, 2s);
  hub.join();
  CHECK(visited.ok());
}

TEST_CASE("if all addresses of a hub are silent, the error names the last one") {
  BothAddresses both;
  const auto callers = std::pair(fill(kFirst, both.port), fill(kSecond, both.port));
  const auto visited = visit(both.port, 1s);
  REQUIRE_FALSE(visited.ok());
  CHECK_THAT(visited.error().what, Contains("no answer from 127.0.0.1 within 1 s"));
  CHECK_THAT(visited.error().hint, Contains("DLCP_COLLNET_TIMEOUT"));
}
