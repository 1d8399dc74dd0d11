#include "cli/bench/coordinator/local_ranks.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "cli/bench/rank/rank.h"
#include "cli/launch/control.h"
#include "cli/launch/processes/net_namespace.h"
#include "util/system/host_name.h"
#include "util/text/file_pattern.h"

namespace dlcp::cli {
namespace {

// Paths of new files that have no name in any folder, so that nothing remains of them however this
// process ends. "" where the system refuses a file.
std::vector<std::string> make_unnamed_files(std::size_t count) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < count; i++) {
    const int fd = ::memfd_create("dlcp bench counters", MFD_CLOEXEC);  // open until the exit
    const bool usable = fd >= 0 && ::fchmod(fd, 0644) == 0;
    paths.push_back(usable ? fmt::format("/proc/self/fd/{}", fd) : "");
  }
  return paths;
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

// Writes the DLCP_STATS_FILE that the user asked for: a copy of `from`, which the plugin has
// written for the report.
void keep_stats_file(const std::string& from, const std::string& to) {
  if (to.empty()) return;
  const std::string name = file_name_of(to, {{'p', std::to_string(getpid())}, {'h', host_name()}});
  std::error_code failed;
  std::filesystem::copy_file(from, name, std::filesystem::copy_options::overwrite_existing, failed);
  if (failed)
    fmt::print(stderr, "dlcp bench: cannot write DLCP_STATS_FILE {}: {}\n", name, failed.message());
}

bool is_written(const std::string& path) {
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(path, missing);
  return !missing && bytes > 0;
}

// Sets the environment that the plugin in this process reads.
void set_environment(const BenchCase& c, int rank) {
  if (c.one_host && c.netns.empty()) {
    if (std::getenv("DLCP_IFNAME") == nullptr) setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    unsetenv("DLCP_ORDER");  // the file has no loopback addresses, so it would be refused
  }
  if (c.loss > 0 && c.netns.empty())
    setenv(
        "DLCP_FAULT",
        fmt::format("drop={},seed={}", c.loss, c.seed * 1000 + static_cast<unsigned>(rank)).c_str(),
        1);
}

}  // namespace

LocalRanks::LocalRanks(const BenchCase& bench_case, SharedArea& shared)
    : case_(bench_case), shared_(shared) {}

int LocalRanks::run(int rank, int line) {
  const std::vector<std::string> stats = make_unnamed_files(case_.plugins.size());
  Control control(line, rank, case_.ranks, case_.one_host, shared_);
  const char* const wanted = std::getenv("DLCP_STATS_FILE");
  const std::string users_file = wanted != nullptr ? wanted : "";
  try {
    if (!case_.namespaces.empty())
      enter_namespace(case_.namespaces[static_cast<std::size_t>(rank)]);
    if (case_.pin) pin_to_cpu(rank);
    set_environment(case_, rank);
    const RankResult result = run_rank(case_, control, stats);
    // Of several plugins, the first that has written counters.
    const auto writer = std::ranges::find_if(stats, is_written);
    if (writer != stats.end()) keep_stats_file(*writer, users_file);
    // Rank 0's host prints the report; on the other hosts a rank prints its own error.
    if (!case_.one_host && rank != 0 && !result.error.empty())
      fmt::print(stderr, "dlcp bench: rank {}: {}\n", rank, result.error);
    return static_cast<int>(result.exit_code);
  } catch (const BenchError& e) {
    RankResult result;
    result.rank = rank;
    result.exit_code = e.exit_code();
    result.error = e.what();
    control.send_result(result.encode());
    return static_cast<int>(result.exit_code);
  }
}

int LocalRanks::start(int rank) {
  auto [ours, theirs] = socket_pair();
  const int line = ours.get();
  lines_[rank] = std::move(ours);
  start(rank, theirs.get());
  return line;
}

void LocalRanks::start(int rank, int line) {
  child_of_[rank] = children_.start([&] {
    lines_
        .clear();  // otherwise this copy would keep another rank's connection open after its death
    return run(rank, line);
  });
}

void LocalRanks::kill(int rank) {
  const auto child = child_of_.find(rank);
  if (child != child_of_.end()) children_.kill(child->second);
}

std::string LocalRanks::ending(int rank) const {
  const auto child = child_of_.find(rank);
  return child == child_of_.end() ? "" : children_.ending(child->second);
}

}  // namespace dlcp::cli
