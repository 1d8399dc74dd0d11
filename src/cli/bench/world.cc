#include "cli/bench/world.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/bench/bench_case.h"

namespace dlcp::cli {
namespace {

constexpr int kDefaultPort = 29777;

int parse_number(const std::string& text, const std::string& what) {
  int value = -1;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 0)
    throw BenchError(ExitCode::kUsage, fmt::format("{}: '{}' is no number", what, text));
  return value;
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
  if (n < 2) return false;  // a launcher's shell, or a job of one task
  world.rank = parse_number(rank, rank_name);
  world.size = n;
  world.source = source;
  return true;
}

void set_meeting_point(World& world, const WorldFlags& flags, const Environment& env) {
  std::string at = flags.rendezvous;
  if (at.empty() && !text_of(env, "MASTER_ADDR").empty())
    at = text_of(env, "MASTER_ADDR") + ":" + text_of(env, "MASTER_PORT");
  if (at.empty() && world.source == "Slurm") at = text_of(env, "SLURM_LAUNCH_NODE_IPADDR");
  if (at.empty())
    throw BenchError(ExitCode::kUsage,
                     fmt::format("rank {} of {} (from {}) does not know where the ranks meet; "
                                 "give --rendezvous HOST:PORT, HOST being rank 0's",
                                 world.rank, world.size, world.source));
  // [v6]:port, v6 without brackets only when no port follows
  const std::size_t bracket = at.rfind(']');
  const std::size_t colon = at.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  world.host = has_port ? at.substr(0, colon) : at;
  const std::string port = has_port ? at.substr(colon + 1) : "";
  if (world.host.size() > 2 && world.host.front() == '[')
    world.host = world.host.substr(1, world.host.size() - 2);
  world.port = port.empty() ? kDefaultPort : parse_number(port, "the port of --rendezvous");
  if (world.host.empty() || world.port < 1 || world.port > 65535)
    throw BenchError(ExitCode::kUsage, fmt::format("--rendezvous: '{}' is not HOST:PORT", at));
}

}  // namespace

std::optional<World> discover_world(const WorldFlags& flags, const Environment& env) {
  World world;
  if (flags.rank >= 0 || flags.size > 0) {
    world.rank = flags.rank;
    world.size = flags.size;
    world.source = "--rank and --world";
    if (flags.rank < 0 || flags.size < 2)
      throw BenchError(ExitCode::kUsage, "--rank and --world (at least 2) go together");
  } else if (!take_pair(world, env, "torchrun", "RANK", "WORLD_SIZE") &&
             !take_pair(world, env, "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE") &&
             !take_pair(world, env, "Slurm", "SLURM_PROCID", "SLURM_NTASKS")) {
    return std::nullopt;
  }
  if (world.rank >= world.size)
    throw BenchError(ExitCode::kUsage, fmt::format("rank {} does not exist among {} (from {})",
                                                   world.rank, world.size, world.source));
  set_meeting_point(world, flags, env);
  return world;
}

}  // namespace dlcp::cli
