#include "order/output/rank_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "util/text/quantity.h"

namespace dlcp::order {
namespace {

// Variables of one launcher: rank and number of processes, both also within the host, and the
// host's rank.
struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
  const char* node_rank;  // nullptr: none
};

constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_NODE_RANK"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE",
     "SLURM_NODEID"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr}};

Error bad(const std::string& what, const std::string& hint) {
  return {ErrorCode::kInvalidUsage, what, hint};
}

std::optional<int> number_of(const Lookup& env, const char* name) {
  const char* const text = name != nullptr ? env(name) : nullptr;
  if (text == nullptr) return std::nullopt;
  const auto value = parse_count(text);
  return value && *value <= 1 << 24 ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

const Launcher* find_launcher(const Lookup& env) {
  const auto* found = std::ranges::find_if(kLaunchers, [&](const Launcher& one) {
    return number_of(env, one.rank) && number_of(env, one.size);
  });
  return found == std::end(kLaunchers) ? nullptr : found;
}

// The address where all processes meet: rank 0's host, which has changed. torchrun's own store
// keeps its address.
void set_master(const fabric::OrderFile& file, const Lookup& env, Assignments& set) {
  const char* const agents = env("TORCHELASTIC_USE_AGENT_STORE");
  if (agents != nullptr && std::string(agents) == "True") return;
  const auto& master = file.fabric.hosts[static_cast<std::size_t>(file.order.front())];
  set.emplace_back("MASTER_ADDR",
                   master.addresses.empty() ? master.name : master.addresses.front());
}

}  // namespace

Result<RankVariables> rank_variables(const fabric::OrderFile& file, int host, const Lookup& env) {
  const Launcher* const launcher = find_launcher(env);
  if (launcher == nullptr)
    return bad("no launcher gave this process a rank",
               "start it with torchrun, srun or mpirun, or set RANK, WORLD_SIZE and LOCAL_RANK");
  const int size = *number_of(env, launcher->size);
  const int nodes = static_cast<int>(file.order.size());
  if (size % nodes != 0)
    return bad(fmt::format("{} is {}, but the order has {} hosts", launcher->size, size, nodes),
               "start the same number of processes on each host, on the hosts of the order");
  const int local_size = size / nodes;
  const int said = number_of(env, launcher->local_size).value_or(local_size);
  if (said != local_size)
    return bad(fmt::format("{} is {}, but {} processes on {} hosts make {} per host",
                           launcher->local_size, said, size, nodes, local_size),
               "start the same number of processes on each host");
  const int local_rank =
      number_of(env, launcher->local_rank).value_or(local_size == 1 ? 0 : local_size);
  if (local_rank >= local_size)
    return bad(fmt::format("{} is not set, or is not below {}", launcher->local_rank, local_size),
               "set it to the index of this process on its host");
  RankVariables result;
  const auto place = std::ranges::find(file.order, host);
  result.node_rank = static_cast<int>(place - file.order.begin());
  result.rank = result.node_rank * local_size + local_rank;
  // Changes all variables that are set, as it is not known which of them the program reads.
  for (const Launcher& one : kLaunchers) {
    if (env(one.rank) != nullptr) result.set.emplace_back(one.rank, std::to_string(result.rank));
    // Open MPI's node rank is a process's number on its host, not the host's rank.
    const bool of_host = one.node_rank != nullptr && one.node_rank != kLaunchers[1].node_rank;
    if (of_host && env(one.node_rank) != nullptr)
      result.set.emplace_back(one.node_rank, std::to_string(result.node_rank));
  }
  if (env("NODE_RANK") != nullptr)
    result.set.emplace_back("NODE_RANK", std::to_string(result.node_rank));
  set_master(file, env, result.set);
  return result;
}

}  // namespace dlcp::order
