// The rank of this process, the number of ranks, and the address of rank 0, if a launcher started
// one process per rank: from options, else from the variables of Slurm, Open MPI or torchrun.
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
  bool host_is_guess = false;  // rank 0 has to check that it runs there
  std::string source;          // where this comes from, for messages
};

struct WorldFlags {
  int rank = -1;
  int size = 0;
  std::string rendezvous;  // host[:port]
};

using Environment = std::function<const char*(const char*)>;

// nullopt: no launcher, so this process starts all ranks itself. Throws BenchError(kUsage) if the
// settings contradict each other or do not give rank 0's address.
std::optional<World> discover_world(const WorldFlags& flags, const Environment& env);

// The first host of Slurm's list: "gpu01" of "gpu[01-04,07],login2"; "" if the text is not such a
// list.
std::string first_of_hostlist(const std::string& list);

}  // namespace dlcp::cli
