// `dlcp order`: registers the verb and its own verbs, measures, solves, writes.
#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/command_line/output/json_text.h"
#include "cli/command_line/output/moving_line.h"
#include "cli/command_line/terminal.h"
#include "cli/command_line/text_file.h"
#include "cli/commands.h"
#include "cli/launch/bench_error.h"
#include "cli/order/agent/burst.h"
#include "cli/order/network/measured_run.h"
#include "cli/order/network/simulated_run.h"
#include "cli/order/order_input.h"
#include "cli/order/order_options.h"
#include "cli/order/order_report.h"
#include "cli/order/order_verbs.h"
#include "fabric/order_file.h"
#include "order/output/picture.h"
#include "order/solve/solve.h"

namespace dlcp::cli {
namespace {

constexpr const char* kFooter = R"(Operation
  Probes each host a few times to find out, from round trips and TTLs, which
  hosts share a leaf switch. Then all hosts load the network briefly, to measure
  the capacities of hosts and leaves. The computed order of hosts crosses leaves
  as rarely as possible, which is good for NCCL's rings, trees, PAT and
  all-to-all.
  NCCL uses hosts in the order of ranks, so the launcher must apply the order:
  `dlcp order write FILE hostfile` writes a file for the launcher, and
  `dlcp order exec FILE -- COMMAND` gives the processes of a job new ranks.

Columns
  Time of an AllReduce of 1 GB (all-to-all: of 1 GB from each host), and the
  latency of its first byte. bound: a lower limit for all orders.

Examples
  srun -N 512 --ntasks-per-node=1 dlcp order -o order.json
  dlcp order write order.json hostfile > hosts; mpirun --hostfile hosts ...
  torchrun ... --no-python dlcp order exec order.json -- python train.py
  dlcp order --simulate hosts=512,leaves=32,oversubscription=4,noise=0.3

Exit codes
  0 done   2 usage error, or a file that cannot be read or written
  3 no host answers, or rank 0 was lost   4 not all ranks connected in time)";

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

struct Found {
  order::Discovery discovery;
  bool measured = true;
  double seconds = 0;
  double load_gb = 0;
  std::vector<int> given;  // hosts by present node rank
};

order::DiscoveryOptions discovery_options(const OrderOptions& options, MovingLine& line) {
  return {{options.full}, !options.no_load, [&line](const std::string& what) { line.show(what); }};
}

Found simulate(const OrderOptions& options) {
  SimulatedRun run(value_or_throw(order::parse_simulation(options.simulate)));
  std::vector<fabric::Host> hosts;
  for (const fabric::Host& host : run.truth().hosts)
    hosts.push_back({host.name, {}, 0, 1, false, false});
  MovingLine line;
  Found found{order::discover(run, std::move(hosts), discovery_options(options, line)),
              true,
              run.seconds(),
              run.load_gb(),
              {}};
  found.given = fabric::given_order(found.discovery.fabric);
  return found;
}

Found from_file(const OrderOptions& options) {
  fabric::OrderFile file = value_or_throw(read_order_file(options.from));
  Found found;
  found.measured = false;
  found.given = std::move(file.order);
  found.discovery.fabric = std::move(file.fabric);
  return found;
}

Found measure(const OrderOptions& options, bool& leads) {
  const auto run = MeasuredRun::start(options);
  leads = run->leads();
  if (!leads) {
    run->serve();
    return {};
  }
  MovingLine line;
  const auto begin = std::chrono::steady_clock::now();
  Found found{order::discover(*run, run->hosts(), discovery_options(options, line)),
              true,
              seconds_since(begin),
              run->load_gb(),
              {}};
  found.given = fabric::given_order(found.discovery.fabric);
  return found;
}

void write_results(const OrderOptions& options, const Found& found, const order::Solution& solution,
                   const OrderReport& report) {
  if (!options.out.empty()) {
    const fabric::OrderFile file{found.discovery.fabric, solution.order,
                                 json_text(report.to_json())};
    value_or_throw(write_text_file(options.out, fabric::write_order(file)));
  }
  if (!options.plot.empty())
    value_or_throw(write_text_file(
        options.plot, order::picture(found.discovery.fabric, found.given, solution.order)));
}

ExitCode run(const OrderOptions& options) {
  bool leads = true;
  const Found found = !options.simulate.empty() ? simulate(options)
                      : !options.from.empty()   ? from_file(options)
                                                : measure(options, leads);
  if (!leads) return ExitCode::kOk;
  order::SolveOptions how;
  how.gain_min = 1 + options.gain_min;
  how.seed = options.seed;
  const auto& hosts = found.discovery.fabric.hosts;
  const auto silent = std::ranges::count_if(hosts, &fabric::Host::silent);
  if (found.measured && hosts.size() > 1 && silent == std::ssize(hosts))
    throw BenchError(ExitCode::kTransport,
                     "no host answers the probes of another one (UDP), so nothing was measured; "
                     "check firewalls with `dlcp doctor --peer`, or choose another interface with "
                     "--interface");
  if (!options.mesh.empty())
    how.mesh = value_or_throw(
        order::parse_mesh(options.mesh, static_cast<int>(hosts.size()) - static_cast<int>(silent)));
  const auto begin = std::chrono::steady_clock::now();
  const auto distances = order::all_distances(found.discovery.known);
  if (distances && found.measured) how.distances = &*distances;
  const order::Solution solution = order::solve(found.discovery.fabric, found.given, how);
  OrderReport report{found.discovery.fabric, solution};
  report.solver_seconds = seconds_since(begin);
  report.measured = found.measured;
  report.probes = found.discovery.probes;
  report.packets = report.probes * kBurstProbes;
  report.probe_seconds = found.seconds;
  report.load_gb = found.load_gb;
  write_results(options, found, solution, report);
  fmt::print("{}", options.json ? json_text(report.to_json(), 2) + "\n" : report.to_text());
  if (!options.out.empty() && !options.json)
    fmt::print("{}", wrapped(fmt::format("Wrote {0}. Next: `dlcp order write {0} hostfile`, or "
                                         "`dlcp order exec {0} -- COMMAND`.",
                                         options.out),
                             output_width()));
  return ExitCode::kOk;
}

}  // namespace

void add_order(CLI::App& app, ExitCode& exit_code) {
  CLI::App* verb = app.add_subcommand(
      "order", "Finds which hosts share a leaf switch, and orders ranks accordingly");
  auto options = std::make_shared<OrderOptions>();
  add_options(*verb, *options);
  add_order_verbs(*verb, exit_code);
  verb->require_subcommand(0, 1);
  verb->footer(kFooter);
  verb->callback([verb, options, &exit_code] {
    if (!verb->get_subcommands().empty()) return;
    try {
      exit_code = run(*options);
    } catch (const BenchError& e) {
      fmt::print(stderr, "dlcp order: {}\n", e.what());
      exit_code = e.exit_code();
    }
  });
}

}  // namespace dlcp::cli
