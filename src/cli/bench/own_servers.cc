#include "cli/bench/own_servers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "cli/aggregator/server.h"
#include "cli/launch/clock.h"
#include "cli/launch/processes/net_namespace.h"
#include "datapath/udp/interfaces/interfaces.h"
#include "util/system/system_text.h"
#include "util/text/host_port.h"

namespace dlcp::cli {
namespace {

constexpr std::int64_t kReadyWithinNs = 20'000'000'000;
constexpr const char* kReady = "ready at ";

[[noreturn]] void fail(const std::string& what) {
  throw BenchError(ExitCode::kTransport, what);
}

std::string hub_program() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::string program = (self.parent_path() / "dlcp-hub").string();
  if (failed || ::access(program.c_str(), X_OK) != 0)
    throw BenchError(ExitCode::kUsage,
                     fmt::format("there is no dlcp-hub next to this program ({}); start hubs "
                                 "yourself and name them with --hubs HOST:PORT,...",
                                 program));
  return program;
}

std::shared_ptr<std::atomic<std::uint64_t>> shared_counter() {
  using Counter = std::atomic<std::uint64_t>;
  void* const memory =
      ::mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail(fmt::format("mmap: {}", system_text(errno)));
  return {new (memory) Counter{0}, [](Counter* counter) { ::munmap(counter, sizeof *counter); }};
}

// The address of this network namespace: the first one not of loopback, preferably IPv4.
std::string address_here() {
  for (const auto family : {datapath::IpFamily::kV4, datapath::IpFamily::kV6}) {
    const auto interfaces = datapath::list_interfaces(family);
    if (!interfaces) continue;
    for (const auto& interface : interfaces.value())
      if (!interface.is_loopback) return datapath::to_string(interface.ip);
  }
  return "";
}

// Tries ports until enough are free. The first try depends on the process id, so that programs that
// run at the same time rarely try the same ports.
Result<AggregatorServer> open_server(const BenchCase& c, ServerOptions& options) {
  constexpr int kTries = 100;
  options.terms.workers = static_cast<unsigned>(c.ranks);
  options.drop = c.netns.empty() ? c.loss : 0;
  for (int i = 0;; ++i) {
    options.port = static_cast<std::uint16_t>(16384 + (getpid() * 37 + i * 40) % 16000);
    auto server = AggregatorServer::open(options, c.netns.empty());
    if (server.ok() || i == kTries) return server;
  }
}

}  // namespace

OwnServer::OwnServer(const std::string& what, const std::string& name_space,
                     const std::function<void()>& serve) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(fmt::format("pipe: {}", system_text(errno)));
  said_ = Fd(ends[0]);
  const Fd end(ends[1]);
  process_.start([&] {
    ::dup2(end.get(), STDERR_FILENO);
    try {
      if (!name_space.empty()) enter_namespace(name_space);
      serve();
    } catch (const BenchError& e) {
      fmt::print(stderr, "{}", e.what());
    }
    return 127;
  });
  await_place(what);
}

void OwnServer::await_place(const std::string& what) {
  const std::int64_t end = now_ns() + kReadyWithinNs;
  std::string text;
  while (now_ns() < end) {
    pollfd ready{said_.get(), POLLIN, 0};
    char buffer[1024];
    const auto got = ::poll(&ready, 1, 100) > 0 ? ::read(said_.get(), buffer, sizeof buffer) : -1;
    if (got == 0) break;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    const std::size_t at = text.find(kReady);
    const std::size_t line_end = at == text.npos ? text.npos : text.find('\n', at);
    if (line_end == text.npos) continue;
    place_ = text.substr(at + std::strlen(kReady), line_end - at - std::strlen(kReady));
    return;
  }
  fail(fmt::format("{}: {}", what, text));
}

OwnHubs::OwnHubs(const BenchCase& c) {
  const std::string program = hub_program();
  for (int i = 0; i < c.own_hubs; ++i) {
    const std::string name_space = c.netns.empty() ? "" : fmt::format("{}{}", c.netns, c.ranks + i);
    hubs_.emplace_back("dlcp-hub did not become ready", name_space, [&] {
      const char* const anywhere[] = {program.c_str(), "serve", nullptr};
      const char* const loopback[] = {program.c_str(), "serve", "--listen", "127.0.0.1:0", nullptr};
      ::execv(program.c_str(), const_cast<char**>(c.netns.empty() ? loopback : anywhere));
      fail(fmt::format("{}: {}", program, system_text(errno)));
    });
  }
}

std::string OwnHubs::places() const {
  std::string places;
  for (const OwnServer& hub : hubs_)
    places += (places.empty() ? "" : ",") + hub.place();
  return places;
}

bool sums_by_switch(const BenchCase& c) {
  return c.algorithm == Algorithm::kSwitch && c.reduction.op == collective::ReduceOp::kSum &&
         c.reduction.type == collective::DataType::kFloat32;
}

OwnSwitch::OwnSwitch(const BenchCase& c)
    : sums_(shared_counter()),
      server_("the built-in aggregator did not become ready",
              c.namespaces.empty() ? "" : c.namespaces.front(), [&] { serve(c); }) {}

void OwnSwitch::serve(const BenchCase& c) {
  ServerOptions options;
  auto server = open_server(c, options);
  if (!server) fail(server.error().message());
  const std::string host = c.netns.empty() ? "127.0.0.1" : address_here();
  fmt::print(stderr, "{}{}\n", kReady, join_host_port(host, options.port));
  for (;;) {
    server->serve(50ms);
    *sums_ = server->aggregator().counts().sums;
  }
}

}  // namespace dlcp::cli
