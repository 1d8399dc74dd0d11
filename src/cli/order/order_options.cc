#include "cli/order/order_options.h"

#include <fmt/format.h>

#include "cli/command_line/options/options.h"

namespace dlcp::cli {
namespace {

void add_what(CLI::App& verb, OrderOptions& o) {
  auto* simulate = verb.add_option(
      "--simulate", o.simulate,
      "A simulated network with these parameters: hosts=512,leaves=32,noise=0.3,seed=7; also "
      "oversubscription, pods, pod_oversubscription, asymmetry, gb_per_s, slow_hosts, "
      "slow_leaves, silent, uneven, shuffled, hops");
  auto* netns = verb.add_option("--netns", o.netns,
                                "Hosts are the network namespaces PREFIX0, PREFIX1, ... of this "
                                "machine, as scripts/netns builds them");
  auto* from =
      verb.add_option("--from", o.from, "An order file: use its fabric instead of measuring");
  simulate->excludes(netns)->excludes(from);
  netns->excludes(from);
  verb.add_option("--interface", o.interface,
                  "Interfaces, with the syntax of NCCL_SOCKET_IFNAME; the first match is probed")
      ->envname("NCCL_SOCKET_IFNAME");
  verb.add_flag("--full", o.full, "Measure every pair of hosts, for overlays that hide distances");
  verb.add_flag("--no-load", o.no_load,
                "Do not load the network; capacities are then unknown, and no gain is predicted");
  add_share(verb, "--share", o.share, {0.001, 1},
            "Share of the interface's rate that the load may use (default 1)");
  group_rest(verb, "Measurement");
}

void add_result(CLI::App& verb, OrderOptions& o) {
  verb.add_option("-o,--output", o.out, "Write the order to this file");
  verb.add_option("--mesh", o.mesh,
                  "The job's grid of nodes, slowest axis first: pp=4,dp=16; optimise for all of "
                  "its groups (dp=16:2 doubles the weight of one) instead of one ring through "
                  "all nodes");
  add_share(verb, "--gain", o.gain_min, {0.001, 10},
            "Keep the given order unless another is faster by this share (default 10%)");
  verb.add_option("--plot", o.plot,
                  "Write a picture of the fabric and of the ring before and after, as SVG");
  add_count(verb, "--seed", o.seed, {0, INT64_MAX}, "Seed of the search for meshes (default 1)");
  verb.add_flag("--json", o.json, "Print one JSON object instead of text");
  group_rest(verb, "Output");
}

void add_where(CLI::App& verb, OrderOptions& o) {
  add_count(verb, "--rank", o.world.rank, {0, 1'000'000},
            "This process's rank, if a launcher starts the others");
  add_count(verb, "--world", o.world.size, {2, 1'000'000},
            "... of this number of ranks; default: from Slurm, Open MPI, torchrun");
  verb.add_option("--rendezvous", o.world.rendezvous,
                  "HOST[:PORT] where rank 0 accepts the others (TCP); default: from the "
                  "launcher, and port 29777");
  add_time(verb, "--timeout", o.timeout, {0.1, 86'400},
           "Longest time until all ranks are connected (default 60)");
  group_rest(verb, "Launch");
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
