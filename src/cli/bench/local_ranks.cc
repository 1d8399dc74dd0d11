#include "cli/bench/local_ranks.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/bench/control.h"
#include "cli/bench/net_namespace.h"
#include "cli/bench/rank.h"
#include "util/system_text.h"

namespace dlcp::cli {
namespace {

std::string make_directory() {
  std::error_code missing;  // TMPDIR may name nothing that exists
  const std::filesystem::path place = std::filesystem::temp_directory_path(missing);
  std::string path = ((missing ? "/tmp" : place) / "dlcp-bench-XXXXXX").string();
  return mkdtemp(path.data()) != nullptr ? path : "";
}

void pin_to_cpu(int rank) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int skip = rank % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &allowed) || skip-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

// The user's own DLCP_STATS_FILE is written all the same: the plugin wrote `from`, for the report.
void keep_stats_file(const std::string& from, const std::string& to) {
  if (to.empty() || from.empty()) return;
  std::string name = to;
  if (const std::size_t at = name.find("%p"); at != std::string::npos)
    name.replace(at, 2, std::to_string(getpid()));
  std::error_code failed;
  std::filesystem::copy_file(from, name, std::filesystem::copy_options::overwrite_existing, failed);
  if (failed)
    fmt::print(stderr, "dlcp bench: cannot write DLCP_STATS_FILE {}: {}\n", name, failed.message());
}

// What the plugin in this process is to find in its environment.
void set_environment(const BenchCase& c, int rank, const std::string& stats_file) {
  if (!stats_file.empty()) setenv("DLCP_STATS_FILE", stats_file.c_str(), 1);
  if (c.one_host && c.netns.empty() && std::getenv("DLCP_IFNAME") == nullptr)
    setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  if (c.loss > 0 && c.netns.empty())
    setenv(
        "DLCP_FAULT",
        fmt::format("drop={},seed={}", c.loss, c.seed * 1000 + static_cast<unsigned>(rank)).c_str(),
        1);
}

}  // namespace

LocalRanks::LocalRanks(const BenchCase& bench_case, SharedArea& shared)
    : case_(bench_case), shared_(shared), directory_(make_directory()) {}

LocalRanks::~LocalRanks() {
  kill_all();
  for (const LocalRank& rank : ranks_)
    if (rank.fd >= 0) close(rank.fd);
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

void LocalRanks::become(int rank, int fd) {
  // A rank must not outlive the process that would end it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string stats = directory_.empty() ? "" : fmt::format("{}/{}", directory_, rank);
  Control control(fd, rank, case_.ranks, case_.one_host, shared_);
  const char* const wanted = std::getenv("DLCP_STATS_FILE");
  const std::string users_file = wanted != nullptr ? wanted : "";
  ExitCode code = ExitCode::kOk;
  try {
    if (!case_.namespaces.empty())
      enter_namespace(case_.namespaces[static_cast<std::size_t>(rank)]);
    if (case_.pin) pin_to_cpu(rank);
    set_environment(case_, rank, stats);
    const RankResult result = run_rank(case_, control, stats);
    code = result.exit_code;
    keep_stats_file(stats, users_file);
    // The report is rank 0's; in a job of several hosts each rank says what became of itself.
    if (!case_.one_host && rank != 0 && !result.error.empty())
      fmt::print(stderr, "dlcp bench: rank {}: {}\n", rank, result.error);
  } catch (const BenchError& e) {
    RankResult r;
    r.rank = rank;
    r.exit_code = code = e.exit_code();
    r.error = e.what();
    control.send_result(r.encode());
  }
  _exit(static_cast<int>(code));
}

LocalRank& LocalRanks::start(int rank, int line) {
  int pair[2] = {-1, line};
  if (line < 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    throw BenchError(ExitCode::kTransport, fmt::format("socketpair: {}", system_text(errno)));
  const pid_t pid = fork();
  if (pid < 0) throw BenchError(ExitCode::kTransport, fmt::format("fork: {}", system_text(errno)));
  if (pid == 0) {
    // Another rank's end kept open here would hide that rank's death.
    for (const LocalRank& other : ranks_)
      if (other.fd >= 0) close(other.fd);
    if (pair[0] >= 0) close(pair[0]);
    become(rank, pair[1]);
  }
  if (line < 0) close(pair[1]);
  ranks_.push_back({rank, pid, pair[0]});
  statuses_.push_back(-1);
  return ranks_.back();
}

void LocalRanks::kill(int rank) {
  for (std::size_t i = 0; i < ranks_.size(); i++)
    if (ranks_[i].rank == rank && statuses_[i] < 0) ::kill(ranks_[i].pid, SIGKILL);
}

void LocalRanks::kill_all() {
  for (std::size_t i = 0; i < ranks_.size(); i++) {
    if (statuses_[i] >= 0) continue;
    ::kill(ranks_[i].pid, SIGKILL);
    waitpid(ranks_[i].pid, &statuses_[i], 0);
  }
}

bool LocalRanks::reap() {
  bool none = true;
  for (std::size_t i = 0; i < ranks_.size(); i++) {
    if (statuses_[i] < 0 && waitpid(ranks_[i].pid, &statuses_[i], WNOHANG) != ranks_[i].pid) {
      statuses_[i] = -1;
      none = false;
    }
  }
  return none;
}

std::string LocalRanks::ending(int rank) const {
  for (std::size_t i = 0; i < ranks_.size(); i++) {
    if (ranks_[i].rank != rank || statuses_[i] < 0) continue;
    if (WIFSIGNALED(statuses_[i]))
      return fmt::format("signal {} ({})", WTERMSIG(statuses_[i]),
                         strsignal(WTERMSIG(statuses_[i])));
    return fmt::format("exit code {}", WEXITSTATUS(statuses_[i]));
  }
  return "";
}

}  // namespace dlcp::cli
