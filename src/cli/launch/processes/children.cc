#include "cli/launch/processes/children.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/launch/bench_error.h"
#include "util/system/system_text.h"

namespace dlcp::cli {

std::pair<Fd, Fd> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw BenchError(ExitCode::kTransport, fmt::format("socketpair: {}", system_text(errno)));
  return {Fd(ends[0]), Fd(ends[1])};
}

std::size_t Children::start(const std::function<int()>& run) {
  const pid_t pid = ::fork();
  if (pid < 0) throw BenchError(ExitCode::kTransport, fmt::format("fork: {}", system_text(errno)));
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // An exception ends the child here; it must not run destructors of the parent's objects.
    ::_exit([&]() noexcept { return run(); }());
  }
  children_.push_back({pid, -1});
  return children_.size() - 1;
}

void Children::kill(std::size_t child) {
  if (children_[child].status < 0) ::kill(children_[child].pid, SIGKILL);
}

void Children::kill_all() {
  for (std::size_t child = 0; child < children_.size(); child++)
    kill(child);
  wait_all();
}

void Children::wait_all() {
  for (Child& child : children_)
    if (child.status < 0) ::waitpid(child.pid, &child.status, 0);
}

bool Children::reap() {
  bool none = true;
  for (Child& child : children_) {
    if (child.status >= 0 || ::waitpid(child.pid, &child.status, WNOHANG) == child.pid) continue;
    child.status = -1;
    none = false;
  }
  return none;
}

std::string Children::ending(std::size_t child) const {
  const int status = children_[child].status;
  if (status < 0) return "";
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace dlcp::cli
