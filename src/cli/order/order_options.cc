#include "cli/order/order_options.h"

#include <fmt/format.h>

#include "cli/command_line/options.h"

namespace dlcp::cli {
namespace {

void add_what(CLI::App& verb, OrderOptions& o) {
  auto* simulate = verb.add_option(
      "--simulate", o.simulate,
      "A network of numbers: hosts=512,leaves=32,noise=0.3,seed=7; also oversubscription, pods, "
      "pod_oversubscription, asymmetry, gb_per_s, slow_hosts, slow_leaves, silent, uneven, "
      "shuffled, hops");
  auto* netns = verb.add_option("--netns", o.netns,
                                "Hosts are the network namespaces PREFIX0, PREFIX1, ... of this "
                                "machine, as scripts/netns builds them");
  auto* from =
      verb.add_option("--from", o.from, "An order file: its fabric is taken, nothing is measured");
  simulate->excludes(netns)->excludes(from);
  netns->excludes(from);
  verb.add_option("--interface", o.interface,
                  "Interfaces, as NCCL_SOCKET_IFNAME selects them; the first is probed")
      ->envname("NCCL_SOCKET_IFNAME");
  verb.add_flag("--full", o.full, "Measure every pair of hosts, for overlays that hide distances");
  verb.add_flag("--no-load", o.no_load,
                "Do not load the network; then no capacities are known and no gain is predicted");
  add_share(verb, "--share", o.share, {0.001, 1},
            "Share of the interface's rate that the load may take (default 1)");
  group_rest(verb, "What is measured");
}

void add_result(CLI::App& verb, OrderOptions& o) {
  verb.add_option("-o,--output", o.out, "Writes the order file");
  verb.add_option("--mesh", o.mesh,
                  "The job's grid of nodes, slowest axis first: pp=4,dp=16; all of its groups are "
                  "weighed (dp=16:2 doubles one's weight) instead of one ring through all");
  add_share(verb, "--gain", o.gain_min, {0.001, 10},
            "Keep the given order unless another is faster by so much (default 10%)");
  verb.add_option("--plot", o.plot, "Writes the fabric and the ring before and after as SVG");
  add_count(verb, "--seed", o.seed, {0, INT64_MAX}, "Of the search for meshes (default 1)");
  verb.add_flag("--json", o.json, "One JSON object");
  group_rest(verb, "What comes of it");
}

void add_where(CLI::App& verb, OrderOptions& o) {
  add_count(verb, "--rank", o.world.rank, {0, 1'000'000},
            "This process's rank, when others start the rest");
  add_count(verb, "--world", o.world.size, {2, 1'000'000},
            "... of so many; default: from Slurm, Open MPI, torchrun");
  verb.add_option("--rendezvous", o.world.rendezvous,
                  "HOST[:PORT] where rank 0 waits (TCP); default: from the launcher, and port "
                  "29777");
  add_time(verb, "--timeout", o.timeout, {0.1, 86'400},
           "Longest wait for all ranks to come (default 60)");
  group_rest(verb, "Where it runs");
}

}  // namespace

std::string OrderOptions::summary() const {
  return fmt::format("dlcp order\n--full {}\n--no-load {}\n--share {}", full, no_load, share);
}

void add_options(CLI::App& verb, OrderOptions& options) {
  add_what(verb, options);
  add_result(verb, options);
  add_where(verb, options);
}

}  // namespace dlcp::cli
