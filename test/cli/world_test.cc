#include "cli/bench/world.h"

#include <map>

#include "catch.h"
#include "cli/bench/bench_case.h"

using namespace dlcp::cli;

namespace {

std::optional<World> discover(const WorldFlags& flags, std::map<std::string, std::string> values) {
  return discover_world(flags, [&](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("without a launcher all ranks are started here") {
  CHECK_FALSE(discover({}, {}));
  CHECK_FALSE(discover({}, {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}));
}

TEST_CASE("torchrun tells rank, size and meeting point") {
  const auto world = discover(
      {}, {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "2345"}});
  REQUIRE(world);
  CHECK(world->rank == 3);
  CHECK(world->size == 8);
  CHECK(world->host == "node1");
  CHECK(world->port == 2345);
}

TEST_CASE("Slurm's launch node is the meeting point unless another is given") {
  const std::map<std::string, std::string> slurm = {
      {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.7"}};
  CHECK(discover({}, slurm)->host == "10.0.0.7");
  WorldFlags flags;
  flags.rendezvous = "[fd00::1]:99";
  CHECK(discover(flags, slurm)->host == "fd00::1");
  CHECK(discover(flags, slurm)->port == 99);
}

TEST_CASE("Open MPI tells rank and size but not where to meet") {
  const std::map<std::string, std::string> mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                                                  {"OMPI_COMM_WORLD_SIZE", "2"}};
  CHECK_THROWS_WITH(discover({}, mpi), Contains("--rendezvous HOST:PORT"));
  WorldFlags flags;
  flags.rendezvous = "node1";
  CHECK(discover(flags, mpi)->rank == 1);
  CHECK(discover(flags, mpi)->host == "node1");
}

TEST_CASE("flags win over the environment, and a rank must exist") {
  WorldFlags flags{1, 2, "h:1"};
  const auto world = discover(flags, {{"RANK", "3"}, {"WORLD_SIZE", "8"}});
  CHECK(world->size == 2);
  flags.rank = 2;
  CHECK_THROWS_WITH(discover(flags, {}), Contains("rank 2 does not exist among 2"));
  flags = {0, 0, "h:1"};
  CHECK_THROWS_WITH(discover(flags, {}), Contains("--rank and --world"));
  CHECK_THROWS_WITH(discover({}, {{"RANK", "x"}, {"WORLD_SIZE", "8"}}), Contains("'x'"));
}
