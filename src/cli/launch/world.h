// Which rank of how many this process is, when a launcher started one process per rank; and where
// the ranks meet. From flags, else from what Slurm, Open MPI or torchrun leave in the environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace dlcp::cli {

struct World {
  int rank = -1;
  int size = 0;
  std::string host;  // where rank 0 listens
  int port = 0;
  bool host_is_guess = false;  // rank 0 has to find that it is there
  std::string source;          // who said so, for messages
};

struct WorldFlags {
  int rank = -1;
  int size = 0;
  std::string rendezvous;  // host[:port]
};

using Environment = std::function<const char*(const char*)>;

// nullopt: no launcher, this process starts all ranks itself. Throws BenchError(kUsage) when what
// is there contradicts itself or leaves the meeting point open.
std::optional<World> discover_world(const WorldFlags& flags, const Environment& env);

// "gpu01" of Slurm's "gpu[01-04,07],login2"; "" for what is no such list.
std::string first_of_hostlist(const std::string& list);

}  // namespace dlcp::cli
