#include "simulate/load/workloads.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "util/rng.h"

namespace dlcp::simulate {
namespace {

std::vector<HostIndex> shuffled(std::size_t hosts, std::uint64_t seed) {
  std::vector<HostIndex> order(hosts);
  std::iota(order.begin(), order.end(), 0u);
  Rng rng(seed);
  for (std::size_t i = hosts; i > 1; --i)
    std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

Step step_of(HostIndex from, HostIndex to, std::uint64_t bytes) {
  Step step;
  step.transfer = {from, to, bytes, 0};
  return step;
}

}  // namespace

Workload permutation(std::size_t hosts, std::uint64_t bytes, std::uint64_t seed) {
  const auto order = shuffled(hosts, seed);
  Workload workload;
  for (std::size_t i = 0; i < hosts; ++i)
    workload.push_back(step_of(order[i], order[(i + 1) % hosts], bytes));
  return workload;
}

Workload incast(std::size_t hosts, std::size_t senders, std::uint64_t bytes, std::uint64_t seed) {
  Workload workload;
  for (const HostIndex from : shuffled(hosts, seed))
    if (from != 0 && workload.size() < senders) workload.push_back(step_of(from, 0, bytes));
  return workload;
}

Workload ring_all_reduce(const std::vector<HostIndex>& ring, std::uint64_t bytes) {
  const std::size_t ranks = ring.size();
  const std::size_t stages = 2 * (ranks - 1);
  const std::uint64_t chunk = (bytes + ranks - 1) / ranks;
  Workload workload;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (std::size_t i = 0; i < ranks; ++i) {
      Step step = step_of(ring[i], ring[(i + 1) % ranks], chunk);
      if (stage > 0) {
        const std::size_t before = (stage - 1) * ranks + (i + ranks - 1) % ranks;
        step.after = {static_cast<TransferId>(before)};
      }
      workload.push_back(std::move(step));
    }
  }
  return workload;
}

// A call has hosts x (hosts - 1) contributions, those to one owner adjacent, followed by the same
// number of results, those to one host adjacent.
Workload direct_all_reduces(std::size_t hosts, std::uint64_t bytes, std::size_t calls,
                            double may_lose) {
  const std::uint64_t part = bytes / hosts / 4 * 4;  // whole elements
  const std::size_t others = hosts - 1;
  const auto side_by_side = [&](std::size_t first) {
    std::vector<TransferId> ids(others);
    std::iota(ids.begin(), ids.end(), static_cast<TransferId>(first));
    return ids;
  };
  Workload workload;
  for (std::size_t call = 0; call < calls; ++call) {
    const std::size_t contributions = workload.size();
    const std::size_t results = contributions + hosts * others;
    for (std::size_t i = 0; i < 2 * hosts * others; ++i) {
      const bool contributes = i < hosts * others;
      const std::size_t to = i / others % hosts;
      const std::size_t from = (to + hosts - 1 - i % others) % hosts;
      Step step = step_of(static_cast<HostIndex>(from), static_cast<HostIndex>(to), part);
      if (contributes && may_lose > 0) {
        step.transfer.may_lose = may_lose;
        step.transfer.pool = static_cast<std::uint32_t>(call * hosts + to + 1);
        step.transfer.ranks = static_cast<std::uint32_t>(hosts);
      }
      if (!contributes) step.after = side_by_side(contributions + from * others);
      if (contributes && call > 0)
        step.after = side_by_side(results - 2 * hosts * others + from * others);
      workload.push_back(std::move(step));
    }
  }
  return workload;
}

Workload all_to_all(std::size_t hosts, std::uint64_t bytes, std::size_t lanes) {
  Workload workload;
  for (std::size_t distance = 1; distance < hosts; ++distance) {
    for (std::size_t from = 0; from < hosts; ++from) {
      Step step = step_of(static_cast<HostIndex>(from),
                          static_cast<HostIndex>((from + distance) % hosts), bytes);
      if (distance > lanes)
        step.after = {static_cast<TransferId>((distance - 1 - lanes) * hosts + from)};
      workload.push_back(std::move(step));
    }
  }
  return workload;
}

Workload messages(const std::vector<HostIndex>& hosts, std::size_t hosts_per_leaf,
                  std::uint64_t bytes, double load, double gbit_per_s, Duration length,
                  std::uint64_t seed) {
  Rng rng(seed);
  const double gap_ns = static_cast<double>(bytes) * 8 / gbit_per_s / load;
  Workload workload;
  for (const HostIndex from : hosts) {
    double at = 0;
    for (;;) {
      at -= std::log(1 - rng.unit()) * gap_ns;
      if (at >= static_cast<double>(length.count())) break;
      HostIndex to = from;
      while (to / hosts_per_leaf == from / hosts_per_leaf)
        to = hosts[rng.below(hosts.size())];
      workload.push_back(step_of(from, to, bytes));
      workload.back().wait = Duration(static_cast<std::int64_t>(at));
    }
  }
  return workload;
}

Workload parameter_servers(const ParameterServerPlan& plan, std::uint64_t seed) {
  const std::size_t each = plan.workers + plan.servers;
  const auto hosts = shuffled(plan.jobs * each, seed);
  Workload workload;
  for (std::size_t job = 0; job < plan.jobs; ++job) {
    const HostIndex* workers = &hosts[job * each];
    const HostIndex* servers = workers + plan.workers;
    // Whole elements.
    const std::uint64_t bytes = plan.bytes[job] / plan.servers / plan.tensors / 4 * 4;
    for (std::size_t piece = 0; piece < plan.servers * plan.tensors; ++piece) {
      const HostIndex server = servers[piece % plan.servers];
      std::vector<TransferId> pushes;
      for (std::size_t i = 0; i < plan.workers; ++i) {
        pushes.push_back(static_cast<TransferId>(workload.size()));
        workload.push_back(step_of(workers[i], server, bytes));
        workload.back().transfer.may_lose = plan.may_lose;
      }
      for (std::size_t i = 0; i < plan.workers; ++i) {
        workload.push_back(step_of(server, workers[i], bytes));
        workload.back().after = pushes;
      }
    }
  }
  return workload;
}

bool can_end(const Workload& workload) {
  std::vector<std::size_t> waits(workload.size());
  std::vector<std::vector<TransferId>> frees(workload.size());
  std::vector<TransferId> ready;
  for (TransferId id = 0; id < workload.size(); ++id) {
    waits[id] = workload[id].after.size();
    for (const TransferId before : workload[id].after)
      frees[before].push_back(id);
    if (waits[id] == 0) ready.push_back(id);
  }
  std::size_t begun = 0;
  while (!ready.empty()) {
    const TransferId id = ready.back();
    ready.pop_back();
    ++begun;
    for (const TransferId next : frees[id])
      if (--waits[next] == 0) ready.push_back(next);
  }
  return begun == workload.size();
}

}  // namespace dlcp::simulate
