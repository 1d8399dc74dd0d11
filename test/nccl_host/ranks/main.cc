// Runs one case with a process per rank, each with its own simulated host or sharing one, and
// prints the results as one line of JSON.
//
//   nccl_host_ranks CASE [--ranks N] [--per-host K] [--limit SECONDS] [--env RANK:NAME=VALUE]...
//                   [--kill RANK | --freeze RANK] [--after RESULTS] [--at SECONDS]
//
// --kill and --freeze end or stop a rank as soon as all ranks together have checked this many
// results and have run for this time. Exit: 0 the line was printed, 2 usage.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "rank.h"

using namespace nccl_host;

namespace {

using Clock = std::chrono::steady_clock;

struct Setting {
  int rank = 0;
  std::string name;
  std::string value;
};

struct Options {
  std::string name;
  int ranks = 2;
  int per_host = 1;
  double limit_s = 120;
  std::vector<Setting> settings;
  int victim = -1;
  int signal = SIGKILL;
  int after = 20;
  double at_s = 0;
};

bool read_setting(const std::string& text, Options& options) {
  const auto colon = text.find(':');
  const auto equals = text.find('=', colon == std::string::npos ? 0 : colon);
  if (colon == std::string::npos || equals == std::string::npos) return false;
  options.settings.push_back({std::atoi(text.c_str()), text.substr(colon + 1, equals - colon - 1),
                              text.substr(equals + 1)});
  return true;
}

bool read_options(int count, char** arguments, Options& options) {
  if (count < 2) return false;
  options.name = arguments[1];
  for (int i = 2; i < count; ++i) {
    const std::string option = arguments[i];
    if (i + 1 == count) return false;
    const char* const value = arguments[++i];
    if (option == "--ranks") {
      options.ranks = std::atoi(value);
    } else if (option == "--per-host") {
      options.per_host = std::atoi(value);
    } else if (option == "--limit") {
      options.limit_s = std::atof(value);
    } else if (option == "--kill" || option == "--freeze") {
      options.victim = std::atoi(value);
      options.signal = option == "--kill" ? SIGKILL : SIGSTOP;
    } else if (option == "--after") {
      options.after = std::atoi(value);
    } else if (option == "--at") {
      options.at_s = std::atof(value);
    } else if (option != "--env" || !read_setting(value, options)) {
      return false;
    }
  }
  return case_named(options.name) != nullptr && options.ranks > 1 && options.ranks <= kRanksMax &&
         options.per_host > 0 && options.victim < options.ranks && options.limit_s > 0;
}

[[noreturn]] void be_rank(const Options& options, World& world, int rank) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const Setting& setting : options.settings)
    if (setting.rank == rank) setenv(setting.name.c_str(), setting.value.c_str(), 1);
  Rank me(world, rank, options.ranks, options.per_host);
  std::vector<ncclComm_t> comms;
  case_named(options.name)(me, comms);
  _exit(me.end(comms));
}

struct Exit {
  pid_t process = 0;
  bool ended = false;
  int status = -1;     // the exit status, or minus the signal
  double seconds = 0;  // since the victim's signal, or since the beginning
};

class Watch {
 public:
  Watch(const Options& options, World& world, std::vector<Exit>& exits)
      : options_(options), world_(world), exits_(exits) {}

  void run() {
    const auto limit = std::chrono::duration<double>(options_.limit_s);
    while (collect() && Clock::now() - begin_ < limit)
      usleep(2000);
    for (Exit& one : exits_)
      if (!one.ended) kill(one.process, SIGKILL);
    while (collect())
      usleep(2000);
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  // Whether a rank other than the frozen one is still alive.
  bool collect() {
    if (options_.victim >= 0 && !struck_ && world_.results >= options_.after &&
        seconds() >= options_.at_s) {
      kill(exits_[static_cast<std::size_t>(options_.victim)].process, options_.signal);
      struck_ = true;
      begin_ = Clock::now();
    }
    bool alive = false;
    for (std::size_t rank = 0; rank < exits_.size(); ++rank) {
      Exit& one = exits_[rank];
      int status = 0;
      if (!one.ended && waitpid(one.process, &status, WNOHANG) == one.process) {
        one.ended = true;
        one.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        one.seconds = seconds();
      }
      const bool is_frozen = struck_ && options_.signal == SIGSTOP &&
                             rank == static_cast<std::size_t>(options_.victim);
      alive = alive || (!one.ended && !is_frozen);
    }
    return alive;
  }

  const Options& options_;
  World& world_;
  std::vector<Exit>& exits_;
  bool struck_ = false;
  Clock::time_point begin_ = Clock::now();
};

// Number of results that differ between the ranks of one group.
int differing(const World& world, int ranks) {
  int count = 0;
  for (std::size_t check = 0; check < kChecksMax; ++check) {
    for (int rank = 1; rank < ranks; ++rank) {
      const Digest& mine = world.digests[static_cast<std::size_t>(rank)][check];
      for (int other = 0; mine.group >= 0 && other < rank; ++other) {
        const Digest& theirs = world.digests[static_cast<std::size_t>(other)][check];
        if (theirs.group != mine.group) continue;
        count += theirs.value != mine.value;
        break;
      }
    }
  }
  return count;
}

void print(const Options& options, const World& world, const std::vector<Exit>& exits,
           double seconds) {
  std::string statuses;
  std::string times;
  for (const Exit& one : exits) {
    char text[32];
    std::snprintf(text, sizeof text, "%s%.2f", times.empty() ? "" : ", ", one.seconds);
    statuses += (statuses.empty() ? "" : ", ") + std::to_string(one.status);
    times += text;
  }
  std::printf(
      "{\"case\": \"%s\", \"ranks\": %d, \"results\": %d, \"elements\": %ld, "
      "\"elements_wrong\": %ld, \"results_differing\": %d, \"chains\": %ld, \"rings\": %ld, "
      "\"exits\": [%s], \"ended_after_s\": [%s], \"seconds\": %.2f}\n",
      options.name.c_str(), options.ranks, world.results.load(), world.elements.load(),
      world.wrong.load(), differing(world, options.ranks), world.chains.load(), world.rings.load(),
      statuses.c_str(), times.c_str(), seconds);
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  if (!read_options(count, arguments, options)) {
    std::fprintf(stderr,
                 "usage: nccl_host_ranks CASE [--ranks N] [--per-host K] [--limit SECONDS]\n"
                 "  [--env RANK:NAME=VALUE]... [--kill RANK | --freeze RANK] [--after RESULTS]\n"
                 "  [--at SECONDS]\n"
                 "cases: %s; ranks 2 to %d\n",
                 case_names().c_str(), kRanksMax);
    return 2;
  }
  void* const shared =
      mmap(nullptr, sizeof(World), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  auto* const world = new (shared) World;
  std::vector<Exit> exits(static_cast<std::size_t>(options.ranks));
  for (int rank = 0; rank < options.ranks; ++rank) {
    Exit& one = exits[static_cast<std::size_t>(rank)];
    one.process = fork();
    if (one.process == 0) be_rank(options, *world, rank);
  }
  Watch watch(options, *world, exits);
  watch.run();
  print(options, *world, exits, watch.seconds());
  return 0;
}
