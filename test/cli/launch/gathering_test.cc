// Which ranks the rendezvous admits, and that every rank that arrived gets the reason of a failure.
#include "cli/launch/rendezvous/gathering.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "catch.h"
#include "cli/launch/bench_error.h"
#include "cli/launch/rendezvous/rendezvous.h"

using namespace dlcp::cli;

namespace {

// An unused port: another process may take it, so callers try several.
int free_port() {
  static int next =
      47101 + static_cast<int>(std::hash<std::thread::id>()(std::this_thread::get_id()) % 500);
  for (;; ++next) {
    try {
      const Gathering trial({0, 2, "127.0.0.1", next, false, "test"}, "");
      return next++;
    } catch (const BenchError&) {
    }
  }
}

// The error of rank `rank` with `options` while rank 0 waits with "--seconds 1"; "" for success.
std::string join(int rank, int size, int port, const std::string& options) {
  try {
    const int fd = join_ranks({rank, size, "127.0.0.1", port, false, "test"}, options, 5);
    close(fd);
    return "";
  } catch (const BenchError& error) {
    return error.what();
  }
}

// A TCP connection to rank 0; not valid while it does not listen.
dlcp::Fd call(int port) {
  dlcp::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  ::usleep(10'000);
  return {};
}

std::string lead(int size, int port, double seconds = 5) {
  try {
    for (const int fd :
         gather_ranks({0, size, "127.0.0.1", port, false, "test"}, "--seconds 1", seconds))
      if (fd >= 0) close(fd);
    return "";
  } catch (const BenchError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("ranks with the same options meet") {
  const int port = free_port();
  std::string outcome[2];
  std::thread one([&] { outcome[0] = join(1, 3, port, "--seconds 1"); });
  std::thread two([&] { outcome[1] = join(2, 3, port, "--seconds 1"); });
  CHECK(lead(3, port) == "");
  one.join();
  two.join();
  CHECK(outcome[0] == "");
  CHECK(outcome[1] == "");
}

TEST_CASE("the ranks' connections survive a path that shrinks, and end when a host vanishes") {
  const int port = free_port();
  int line = -1;
  std::thread one([&] {
    line = join_ranks({1, 2, "127.0.0.1", port, false, "test"}, "--seconds 1", 5);
  });
  std::vector<int> lines = gather_ranks({0, 2, "127.0.0.1", port, false, "test"}, "--seconds 1", 5);
  one.join();
  REQUIRE(lines.size() == 2);
  for (const int fd : {line, lines[1]}) {
    int bytes = 0, at_once = 0, probed = 0, silent_seconds = 0;
    socklen_t length = sizeof bytes;
    REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &bytes, &length) == 0);
    REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, &length) == 0);
    CHECK(bytes <= 536);
    REQUIRE(::getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &probed, &length) == 0);
    REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &silent_seconds, &length) == 0);
    CHECK(at_once != 0);
    CHECK(probed != 0);
    CHECK(silent_seconds == 60);
    unsigned unacked_ms = 0;
    REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked_ms, &length) == 0);
    CHECK(unacked_ms == 120'000);
    close(fd);
  }
}

TEST_CASE("a rank with another option is refused, and every rank prints the same reason") {
  const int port = free_port();
  const std::string reason =
      "rank 1 has '--seconds 2', rank 0 has '--seconds 1'; start all ranks alike";
  std::string outcome[2];
  std::thread one([&] { outcome[0] = join(1, 3, port, "--seconds 2"); });
  std::thread two([&] { outcome[1] = join(2, 3, port, "--seconds 1"); });
  CHECK(lead(3, port) == reason);
  one.join();
  two.join();
  CHECK(outcome[0] == "rank 1: rank 0 stopped the run: " + reason);
  CHECK(outcome[1] == "rank 2: rank 0 stopped the run: " + reason);
}

TEST_CASE("a caller that is not a rank does not end the run") {
  const int port = free_port();
  std::string outcome;
  std::thread others([&] {
    dlcp::Fd stranger;
    for (int attempt = 0; attempt < 200 && !stranger.valid(); ++attempt)
      stranger = call(port);
    write_frame(stranger.get(), FrameType::kHello, "\033[31m of another program");
    outcome = join(1, 2, port, "--seconds 1");
  });
  CHECK(lead(2, port) == "");
  others.join();
  CHECK(outcome == "");
}

TEST_CASE("another rank's hello is printed without control characters, and only its beginning") {
  const World world{0, 2, "h", 1, false, "test"};
  const std::string theirs = "1\nversion \033[31m" + std::string(1000, 'x');
  CHECK(is_hello(theirs));
  const std::string text = difference(theirs, hello_of(world, ""));
  CHECK_THAT(text, Contains("rank 1 has 'version ?[31mxxx"));
  CHECK(text.size() < 300);
  CHECK_FALSE(is_hello("one\nversion 9"));
  CHECK_FALSE(is_hello("1\n"));
  CHECK_FALSE(is_hello(""));
}

TEST_CASE("too low a limit of open files ends the run with the reason") {
  const int port = free_port();
  Gathering gathering({0, 2, "127.0.0.1", port, false, "test"}, "");
  const dlcp::Fd caller = call(port);
  REQUIRE(caller.valid());
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low{static_cast<rlim_t>(caller.get()) + 1, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  std::string reason;
  try {
    gathering.serve(1000);
  } catch (const BenchError& error) {
    reason = error.what();
  }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_THAT(reason, Contains("ulimit -n"));
}

TEST_CASE("missing ranks are named to those that arrived") {
  const int port = free_port();
  std::string outcome;
  std::thread two([&] { outcome = join(2, 5, port, "--seconds 1"); });
  CHECK_THAT(lead(5, port, 0.7),
             Contains("ranks 1, 3-4 of 5 did not connect to 127.0.0.1:" + std::to_string(port)));
  two.join();
  CHECK_THAT(outcome, Contains("ranks 1, 3-4 of 5 did not connect"));
}

TEST_CASE("rank 0 refuses a host that does not exist, and one that differs from the launcher's") {
  CHECK_THROWS_WITH(gather_ranks({0, 2, "no-such-host.invalid", 47099, false, "test"}, "", 1),
                    Contains("cannot connect at 'no-such-host.invalid'"));
  CHECK_THROWS_WITH(gather_ranks({0, 2, "192.0.2.1", 47099, true, "test"}, "", 1),
                    Contains("are told to connect to 192.0.2.1; give --rendezvous"));
}

TEST_CASE("missing ranks are printed as ranges") {
  CHECK(rank_ranges({}) == "");
  CHECK(rank_ranges({1}) == "1");
  CHECK(rank_ranges({1, 2, 3, 5, 7, 8}) == "1-3, 5, 7-8");
}

TEST_CASE("hellos contain version, size and options, but not the rank") {
  const World world{0, 2, "h", 1, false, "test"};
  World other = world;
  other.rank = 1;
  CHECK(difference(hello_of(other, "--mode bw"), hello_of(world, "--mode bw")) == "");
  other.size = 3;
  CHECK_THAT(difference(hello_of(other, "--mode bw"), hello_of(world, "--mode bw")),
             Contains("rank 1 has 'ranks 3', rank 0 has 'ranks 2'"));
  CHECK_THAT(difference("1\nversion 9", hello_of(world, "")), Contains("version 9"));
}
