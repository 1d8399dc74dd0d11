#include "cli/bench/coordinator/runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "cli/bench/coordinator/coordinator.h"
#include "cli/bench/modes/modes.h"
#include "cli/bench/own_servers.h"
#include "cli/bench/rank/turns.h"
#include "cli/command_line/output/moving_line.h"
#include "cli/command_line/terminal.h"
#include "cli/launch/clock.h"
#include "cli/launch/rendezvous/rendezvous.h"
#include "cli/launch/silence.h"

namespace dlcp::cli {
namespace {

// Shows the current rate on a terminal; prints nothing into a pipe.
class Progress {
 public:
  Progress(const BenchCase& c, SharedArea& shared)
      : case_(c), shared_(shared), shown_(can_draw(STDERR_FILENO)), started_(now_ns()) {}
  void tick() {
    const std::int64_t now = now_ns();
    if (!shown_ || now - last_ < 200'000'000) return;
    std::uint64_t bytes = 0;
    for (int i = 0; i < case_.ranks; i++)
      bytes += shared_.rank(i).bytes;
    const double rate = bytes >= bytes_ && last_ != 0 ? static_cast<double>(bytes - bytes_) * 8 /
                                                            static_cast<double>(now - last_)
                                                      : 0;
    line_.show(fmt::format("{} {} x{}: {:.1f} s, {:.2f} Gb/s in total", name_of(case_.mode),
                           format_size(case_.size), case_.ranks,
                           static_cast<double>(now - started_) * 1e-9, rate));
    bytes_ = bytes;
    last_ = now;
  }

 private:
  const BenchCase& case_;
  SharedArea& shared_;
  bool shown_;
  MovingLine line_;
  std::int64_t started_;
  std::int64_t last_ = 0;
  std::uint64_t bytes_ = 0;
};

std::size_t timed_wires(const BenchCase& c) {
  return c.one_host ? traits_of(c.mode).wires(c).size() : 0;
}

}  // namespace

Runner::Runner(std::optional<World> world, const std::string& options, double timeout)
    : world_(std::move(world)) {
  if (!world_) return;
  if (world_->rank == 0)
    for (const int fd : gather_ranks(*world_, options, timeout))
      lines_.emplace_back(fd);
  else
    line_ = join_ranks(*world_, options, timeout);
}

Runner::~Runner() {
  for (std::size_t rank = 1; world_ && rank < lines_.size(); rank++)
    close(lines_[rank].fd());
  if (line_ >= 0) close(line_);
}

std::vector<Report> Runner::lead(const BenchCase& c) {
  if (c.algorithm == Algorithm::kSwitch && c.switch_name.empty()) {
    OwnSwitch own(c);
    BenchCase named = c;
    named.switch_name = own.name();
    Report report = std::move(lead(named).front());
    report.switch_sums = own.sums();
    const bool wanted = sums_by_switch(c) && report.exit_code == ExitCode::kOk && c.ranks > 1;
    if (wanted && own.sums() <= 1) {  // the first sum is that of the workers' greeting
      report.exit_code = ExitCode::kTransport;
      report.error = "the switch has added no sum; run with NCCL_DEBUG=WARN to see the reason";
    }
    return {report};
  }
  if (c.own_hubs > 0) {
    const OwnHubs own(c);
    BenchCase named = c;
    named.own_hubs = 0;
    named.hubs = own.places();
    return lead(named);
  }
  SharedArea shared(c.ranks, timed_wires(c));
  LocalRanks local(c, shared);
  lines_.resize(static_cast<std::size_t>(c.ranks), FrameReader(-1));
  for (int rank = 0; rank < (world_ ? 1 : c.ranks); rank++)
    lines_[static_cast<std::size_t>(rank)] = FrameReader(local.start(rank));
  Progress progress(c, shared);
  Coordinator coordinator(c, lines_, local, shared, [&] { progress.tick(); });
  const auto results = coordinator.run();
  if (c.turns > 0) return make_turn_reports(c, results);
  return {make_report(c, results, coordinator.killed_at_ns())};
}

ExitCode Runner::follow(const BenchCase& c) {
  SharedArea shared(c.ranks, timed_wires(c));
  LocalRanks local(c, shared);
  const int rank = world_->rank;
  local.start(rank, line_);
  Silence silence(now_ns());
  while (!local.reap()) {
    poll(nullptr, 0, 20);
    const std::int64_t silent = silence.look(now_ns(), shared.rank(rank).activity);
    // The coordinator's own time-out comes first, as it can name the cause.
    if (static_cast<double>(silent) * 1e-9 < c.timeout + 10) continue;
    fmt::print(stderr, "dlcp bench: rank {} made no progress for {} s\n", rank, c.timeout + 10);
    return ExitCode::kTimeout;
  }
  const std::string how = local.ending(rank);
  if (how.find("exit code ") != 0) return ExitCode::kTransport;
  return static_cast<ExitCode>(std::atoi(how.c_str() + 10));
}

}  // namespace dlcp::cli
