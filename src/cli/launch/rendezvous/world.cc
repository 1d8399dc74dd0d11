#include "cli/launch/rendezvous/world.h"

#include <fmt/format.h>

#include <climits>

#include "cli/launch/bench_error.h"
#include "util/text/host_port.h"
#include "util/text/quantity.h"

namespace dlcp::cli {
namespace {

constexpr int kDefaultPort = 29777;
constexpr const char* kOpenMpi = "Open MPI";
constexpr const char* kSlurm = "Slurm";

int parse_number(const std::string& text, const std::string& what) {
  const auto value = parse_count(text);
  if (!value || *value > INT_MAX)
    throw BenchError(ExitCode::kUsage, fmt::format("{}: '{}' is not a number", what, text));
  return static_cast<int>(*value);
}

std::string text_of(const Environment& env, const char* name) {
  const char* text = env(name);
  return text != nullptr ? text : "";
}

bool take_pair(World& world, const Environment& env, const char* source, const char* rank_name,
               const char* size_name) {
  const std::string rank = text_of(env, rank_name);
  const std::string size = text_of(env, size_name);
  if (rank.empty() || size.empty()) return false;
  const int n = parse_number(size, size_name);
  if (n < 2) return false;  // an interactive shell of the launcher, or a job of one task
  world.rank = parse_number(rank, rank_name);
  world.size = n;
  world.source = source;
  return true;
}

int port_of(const std::string& text, const char* name) {
  const int port = parse_number(text, name);
  if (port < 1 || port > 65535)
    throw BenchError(ExitCode::kUsage, fmt::format("{}: '{}' is not a port", name, text));
  return port;
}

// The variables of torchrun, which job scripts for PyTorch set as well.
bool meet_at_master(World& world, const Environment& env) {
  world.host = text_of(env, "MASTER_ADDR");
  if (world.host.empty()) return false;
  const std::string port = text_of(env, "MASTER_PORT");
  if (port.empty()) return true;
  world.port = port_of(port, "MASTER_PORT");
  // torchrun's store listens on that port itself while the job runs.
  if (text_of(env, "TORCHELASTIC_USE_AGENT_STORE") == "True")
    world.port += world.port < 65535 ? 1 : -1;
  return true;
}

// srun may run on a login node; rank 0 is on the first node of the step.
bool meet_at_first_node(World& world, const Environment& env) {
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    world.host = first_of_hostlist(text_of(env, name));
    if (!world.host.empty()) return true;
  }
  return false;
}

// Ranks of a single host use loopback. On several hosts mpirun passes its own address, and rank 0
// is usually on that host; rank 0 reports if it is not.
bool meet_at_mpirun(World& world, const Environment& env) {
  if (text_of(env, "OMPI_COMM_WORLD_LOCAL_SIZE") == std::to_string(world.size)) {
    world.host = "127.0.0.1";
    return true;
  }
  const std::string uri =
      text_of(env, "OMPI_MCA_orte_hnp_uri");  // "1;tcp://10.0.0.1,fd00::1:44711"
  const std::size_t begin = uri.find("tcp://");
  if (begin == std::string::npos) return false;
  const std::string addresses = uri.substr(begin + 6);
  world.host = addresses.substr(0, addresses.find_first_of(",:"));
  world.host_is_guess = true;
  return !world.host.empty();
}

void set_meeting_point(World& world, const WorldFlags& flags, const Environment& env) {
  world.port = kDefaultPort;
  if (!flags.rendezvous.empty()) {
    const auto given = split_host_port(flags.rendezvous);
    if (!given) throw BenchError(ExitCode::kUsage, "--rendezvous: " + given.error().message());
    world.host = given.value().host;
    world.port = given.value().port.value_or(kDefaultPort);
    return;
  }
  if (meet_at_master(world, env)) return;
  if (world.source == kSlurm && meet_at_first_node(world, env)) return;
  if (world.source == kOpenMpi && (meet_at_mpirun(world, env) || meet_at_first_node(world, env)))
    return;
  throw BenchError(ExitCode::kUsage,
                   fmt::format("rank {} of {} (from {}) does not know the address of rank 0; "
                               "give --rendezvous HOST[:PORT] with the host of rank 0",
                               world.rank, world.size, world.source));
}

}  // namespace

std::string first_of_hostlist(const std::string& list) {
  std::string host;
  for (std::size_t at = 0; at < list.size() && list[at] != ',';) {
    if (list[at] != '[') {
      host += list[at++];
      continue;
    }
    const std::size_t end = list.find(']', at);
    if (end == std::string::npos) return "";
    const std::string inside = list.substr(at + 1, end - at - 1);
    host += inside.substr(0, inside.find_first_of(",-"));
    at = end + 1;
  }
  return host;
}

std::optional<World> discover_world(const WorldFlags& flags, const Environment& env) {
  World world;
  if (flags.rank >= 0 || flags.size > 0) {
    world.rank = flags.rank;
    world.size = flags.size;
    world.source = "--rank and --world";
    if (flags.rank < 0 || flags.size < 2)
      throw BenchError(ExitCode::kUsage,
                       "--rank and --world must be given together, and --world must be at least "
                       "2");
  } else if (!take_pair(world, env, "torchrun", "RANK", "WORLD_SIZE") &&
             !take_pair(world, env, kOpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE") &&
             !take_pair(world, env, kSlurm, "SLURM_PROCID", "SLURM_NTASKS")) {
    return std::nullopt;
  }
  if (world.rank >= world.size)
    throw BenchError(ExitCode::kUsage, fmt::format("rank {} does not exist among {} ranks (from "
                                                   "{})",
                                                   world.rank, world.size, world.source));
  set_meeting_point(world, flags, env);
  return world;
}

}  // namespace dlcp::cli
