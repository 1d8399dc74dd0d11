// `dlcp bench`: registers the verb, runs the cases one after another, prints the reports.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bench/cases/bench_options.h"
#include "cli/bench/coordinator/runner.h"
#include "cli/bench/rank/turns.h"
#include "cli/command_line/output/json_text.h"
#include "cli/commands.h"
#include "engine/settings/environment.h"
#include "engine/settings/settings.h"

namespace dlcp::cli {
namespace {

constexpr const char* kFooter = R"(Modes
  bw        rank 0 sends a stream of messages to rank 1 (2 to 3, ...)
  lat       a message there and back; half of the round trip is reported
  ring      fp32 all-reduce, sliced as NCCL's Simple protocol slices it
  incast    all ranks send to rank 0
  alltoall  every rank sends to every other rank
  plan      a collective that follows a plan of dlcp synth
  allreduce the same all-reduces over a ring or through the CollNet interface
  abort     posts 32 messages, then calls deregMr, free, close, finalize,
            dlclose

What is measured
  Gb/s is the bus bandwidth as in NCCL's tests: bytes received over time; for
  ring 2(n-1)/n x size / time. Times are per message, from its first isend to
  the receiver's test() (bw, incast, alltoall; across machines to the sender's
  test()), half a round trip (lat), or a whole all-reduce (ring).
  Every byte depends on its position, and every 512 bytes also on the message;
  all bytes are compared. lat and ring make and compare data while the clock is
  stopped. In streams the receiver compares pieces of 64 KiB when it has nothing
  else to do or runs out of buffers; the CPU seconds do not include that time.

Examples
  dlcp bench --mode ring --ranks 4 --size 16M
  dlcp bench --mode lat --size 64,4K,64K --pin --idle spin --json
  dlcp bench --mode bw --loss 1% --size 1M
  dlcp bench --plugin /usr/lib/libnccl-net-other.so --mode alltoall --ranks 4
  dlcp bench --plugin other --plugin dlcp,DLCP_COMPRESS=off --turns 21
  srun -N 2 --ntasks-per-node=1 dlcp bench --mode bw --size 4M
  dlcp bench --mode plan --plan plan.json --size 64K,1M --netns PREFIX
  dlcp bench --mode allreduce --algo direct --ranks 8 --size 64K,1M --rounds 20
  dlcp bench --mode allreduce --algo switch --ranks 4 --loss 1% --json
  dlcp bench --mode allreduce --algo hub --hubs 2 --size 1M --rounds 20
  dlcp bench --kill-rank 2 --ranks 4 --mode ring

Exit codes
  0 all data correct  1 wrong data  2 usage or set-up error
  3 transport error   4 time-out)";

ExitCode worse(ExitCode a, ExitCode b) {
  if (a == ExitCode::kWrongData || b == ExitCode::kWrongData) return ExitCode::kWrongData;
  return a == ExitCode::kOk ? b : a;
}

void explain(const BenchCase& c, const BenchOptions& options) {
  if (options.json) return;
  if (c.loss > 0 && c.netns.empty())
    fmt::print("DLCP_FAULT makes the plugin drop {:g}% of the packets{}.\n", c.loss * 100,
               c.one_host ? ", which travel over loopback" : "");
  if (c.loss > 0 && !c.netns.empty())
    fmt::print("--loss is only a label here: the network of --netns {} must drop the packets.\n",
               c.netns);
}

void print_details(const Report& r) {
  if (!r.error.empty()) fmt::print("  error: {}\n", r.error);
  for (std::size_t rank = 0; r.killed && rank < r.rank_ends.size(); rank++) {
    const auto& [code, ms] = r.rank_ends[rank];
    if (static_cast<int>(rank) == r.bench_case.kill_rank)
      fmt::print("  rank {}: killed\n", rank);
    else if (!ms)
      fmt::print("  rank {}: no error reported\n", rank);
    else
      fmt::print("  rank {}: {} after {:.1f} ms\n", rank, name_of(code), *ms);
  }
}

// `first`: of all cases. Plugins that run in turn have a table for each case, otherwise each case
// is a row of one table.
void print_reports(const std::vector<Report>& reports, bool first) {
  const Report& one = reports.front();
  for (const Report& r : reports)
    if (first && r.abi > 0) fmt::print("{} (net v{}, {})\n", r.plugin_name, r.abi, r.plugin_path);
  if (one.turns) {
    fmt::print("{}\n", turn_table(reports));
  } else {
    if (first) fmt::print("{}\n", table_header());
    fmt::print("{}\n", table_row(one));
    print_details(one);
  }
  std::fflush(stdout);
}

// Reports bad settings once and as a usage error. Otherwise each rank would report them, and the
// run would end with the exit code of a network failure.
void check_settings(const PluginChoice& plugin) {
  const bool ours = plugin.name.empty() || plugin.name.find("dlcp") != std::string::npos;
  if (!ours) return;
  const ScopedEnvironment set(plugin.environment);
  const auto settings = engine::process_settings();
  if (!settings) throw BenchError(ExitCode::kUsage, settings.error().message());
}

ExitCode run(const BenchOptions& options) {
  auto world = options.ranks < 0 || options.world.rank >= 0
                   ? discover_world(options.world, [](const char* n) { return std::getenv(n); })
                   : std::nullopt;
  const auto planned = options.read_plan();
  const auto cases = options.cases(world ? world->size : 0, planned);
  for (const PluginChoice& plugin : cases.front().plugins)
    check_settings(plugin);
  Runner runner(world, options.summary(planned), options.common.timeout);
  ExitCode outcome = ExitCode::kOk;
  nlohmann::json all = nlohmann::json::array();
  for (const BenchCase& c : cases) {
    if (!runner.leads()) {
      outcome = worse(outcome, runner.follow(c));
      if (outcome != ExitCode::kOk) break;
      continue;
    }
    const bool first = all.empty();
    if (first) explain(c, options);
    const std::vector<Report> reports = runner.lead(c);
    bool usage = false;
    for (const Report& report : reports) {
      outcome = worse(outcome, report.exit_code);
      all.push_back(report.to_json());
      usage |= report.exit_code == ExitCode::kUsage;
    }
    if (usage && !options.json) {
      fmt::print(stderr, "dlcp bench: {}\n", reports.front().error);
      break;
    }
    if (!options.json) print_reports(reports, first);
    if (usage || (world && outcome != ExitCode::kOk)) break;
  }
  if (options.json && runner.leads())
    fmt::print("{}\n", json_text(cases.size() == 1 && all.size() == 1 ? all[0] : all, 2));
  return outcome;
}

}  // namespace

void add_bench(CLI::App& app, ExitCode& exit_code) {
  CLI::App& bench = add_verb(
      app, "bench", "Drives any NCCL net plugin as NCCL's proxy does, and checks every byte");
  auto options = std::make_shared<BenchOptions>();
  add_options(bench, *options);
  complete(bench, kFooter, [options, &exit_code] {
    try {
      exit_code = run(*options);
    } catch (const BenchError& e) {
      fmt::print(stderr, "dlcp bench: {}\n", e.what());
      exit_code = e.exit_code();
    }
  });
}

}  // namespace dlcp::cli
