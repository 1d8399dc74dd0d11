#include "cli/bench/own_hubs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "cli/bench/clock.h"
#include "cli/bench/net_namespace.h"
#include "util/system_text.h"

namespace dlcp::cli {
namespace {

constexpr std::int64_t kReadyWithinNs = 20'000'000'000;
constexpr const char* kReady = "ready at ";

// Its place, once it is ready; throws with what it has said if that does not come.
std::string wait_ready(int said) {
  const std::int64_t end = now_ns() + kReadyWithinNs;
  std::string text;
  while (now_ns() < end) {
    pollfd ready{said, POLLIN, 0};
    char buffer[1024];
    const auto got = ::poll(&ready, 1, 100) > 0 ? ::read(said, buffer, sizeof buffer) : -1;
    if (got == 0) break;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    const std::size_t at = text.find(kReady);
    const std::size_t line_end = at == text.npos ? text.npos : text.find('\n', at);
    if (line_end != text.npos)
      return text.substr(at + std::strlen(kReady), line_end - at - std::strlen(kReady));
  }
  throw BenchError(ExitCode::kTransport, fmt::format("dlcp-hub does not become ready: {}", text));
}

}  // namespace

OwnHubs::OwnHubs(const BenchCase& c) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::string program = (self.parent_path() / "dlcp-hub").string();
  if (failed || ::access(program.c_str(), X_OK) != 0)
    throw BenchError(ExitCode::kUsage,
                     fmt::format("no dlcp-hub beside this program ({}); start hubs yourself and "
                                 "name them with --hubs HOST:PORT,...",
                                 program));
  for (int i = 0; i < c.own_hubs; ++i) {
    start(c, program, c.netns.empty() ? "" : fmt::format("{}{}", c.netns, c.ranks + i));
    places_ += (places_.empty() ? "" : ",") + wait_ready(hubs_.back().said.get());
  }
}

void OwnHubs::start(const BenchCase& c, const std::string& program, const std::string& name_space) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw BenchError(ExitCode::kTransport, fmt::format("pipe: {}", system_text(errno)));
  hubs_.push_back({-1, Fd(ends[0])});
  const Fd end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) throw BenchError(ExitCode::kTransport, fmt::format("fork: {}", system_text(errno)));
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(end.get(), STDERR_FILENO);
    try {
      if (!name_space.empty()) enter_namespace(name_space);
      const char* const anywhere[] = {program.c_str(), "serve", nullptr};
      const char* const loopback[] = {program.c_str(), "serve", "--listen", "127.0.0.1:0", nullptr};
      ::execv(program.c_str(), const_cast<char**>(c.netns.empty() ? loopback : anywhere));
      fmt::print(stderr, "{}: {}", program, system_text(errno));
    } catch (const BenchError& e) {
      fmt::print(stderr, "{}", e.what());
    }
    ::_exit(127);
  }
  hubs_.back().pid = pid;
}

OwnHubs::~OwnHubs() {
  for (const Hub& hub : hubs_) {
    if (hub.pid <= 0) continue;
    ::kill(hub.pid, SIGKILL);
    ::waitpid(hub.pid, nullptr, 0);
  }
}

}  // namespace dlcp::cli
