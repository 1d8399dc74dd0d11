// The workloads of the figures.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/load/job.h"

namespace dlcp::simulate {

// Whether every step can begin, that is, no step waits for itself through others.
bool can_end(const Workload& workload);

// Every host sends to one other host: a random cycle through all hosts.
Workload permutation(std::size_t hosts, std::uint64_t bytes, std::uint64_t seed);
// `senders` random hosts other than host 0 send to host 0 at the same time.
Workload incast(std::size_t hosts, std::size_t senders, std::uint64_t bytes, std::uint64_t seed);
// Reduce-scatter and all-gather of `bytes` along the ring of hosts in the order of `ring`.
Workload ring_all_reduce(const std::vector<HostIndex>& ring, std::uint64_t bytes);
// `calls` all-reduces of `bytes` by direct exchange, one after the other on each host: every host
// owns a part, receives all contributions to it, and sends the result to all. The contributions to
// each part share a loss budget.
Workload direct_all_reduces(std::size_t hosts, std::uint64_t bytes, std::size_t calls,
                            double may_lose);
// Every host sends `bytes` to every other host. Each begins with its neighbour and has one transfer
// in progress for each of `lanes`.
Workload all_to_all(std::size_t hosts, std::uint64_t bytes, std::size_t lanes);

// Messages of `bytes` between random hosts of different leaves, for the time `length`. Each host
// sends at the average rate `load` times `gbit_per_s`, as a Poisson process.
Workload messages(const std::vector<HostIndex>& hosts, std::size_t hosts_per_leaf,
                  std::uint64_t bytes, double load, double gbit_per_s, Duration length,
                  std::uint64_t seed);

// Jobs of workers and parameter servers, one iteration: each worker pushes each server's share of
// the gradient, tensor by tensor, and pulls a tensor after all workers have pushed it.
struct ParameterServerPlan {
  std::size_t jobs = 1;
  std::size_t workers = 4;  // of a job
  std::size_t servers = 1;
  std::size_t tensors = 1;           // for each server
  std::vector<std::uint64_t> bytes;  // of each job's gradient
  double may_lose = 0;               // share of the pushed bytes
};
// The hosts of the jobs are a random arrangement of jobs x (workers + servers).
Workload parameter_servers(const ParameterServerPlan& plan, std::uint64_t seed);

}  // namespace dlcp::simulate
