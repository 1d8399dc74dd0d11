#include "cli/launch/rendezvous/world.h"

#include <map>

#include "catch.h"
#include "cli/launch/bench_error.h"

using namespace dlcp::cli;

namespace {

std::optional<World> discover(const WorldFlags& flags, std::map<std::string, std::string> values) {
  return discover_world(
      flags,
      [&](const char* name) -> const char* {
        const auto found = values.find(name);
        return found == values.end() ? nullptr : found->second.c_str();
      });
}

}  // namespace

TEST_CASE("without a launcher all ranks are started here") {
  CHECK_FALSE(discover({}, {}));
  CHECK_FALSE(discover({}, {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}));
}

TEST_CASE("torchrun sets rank, size and meeting point") {
  const auto world = discover(
      {}, {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "2345"}});
  REQUIRE(world);
  CHECK(world->rank == 3);
  CHECK(world->size == 8);
  CHECK(world->host == "node1");
  CHECK(world->port == 2345);
}

TEST_CASE("torchrun's own store keeps its port, so the ranks meet at the next") {
  std::map<std::string, std::string> env = {{"RANK", "0"},
                                            {"WORLD_SIZE", "2"},
                                            {"MASTER_ADDR", "fd00::1"},
                                            {"MASTER_PORT", "29500"},
                                            {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  CHECK(discover({}, env)->port == 29501);
  CHECK(discover({}, env)->host == "fd00::1");
  env["MASTER_PORT"] = "65535";
  CHECK(discover({}, env)->port == 65534);
  env["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  CHECK(discover({}, env)->port == 65535);
  env["MASTER_PORT"] = "70000";
  CHECK_THROWS_WITH(discover({}, env), Contains("'70000' is not a port"));
}

TEST_CASE("with Slurm the ranks meet at the first node of the step, not where srun runs") {
  std::map<std::string, std::string> slurm = {{"SLURM_PROCID", "1"},
                                              {"SLURM_NTASKS", "2"},
                                              {"SLURM_JOB_NODELIST", "gpu[03-09]"},
                                              {"SLURM_STEP_NODELIST", "gpu[04,07-09],login2"},
                                              {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.7"}};
  CHECK(discover({}, slurm)->host == "gpu04");
  slurm.erase("SLURM_STEP_NODELIST");
  CHECK(discover({}, slurm)->host == "gpu03");
  slurm["MASTER_ADDR"] = "node9";
  CHECK(discover({}, slurm)->host == "node9");
  WorldFlags flags;
  flags.rendezvous = "[fd00::1]:99";
  CHECK(discover(flags, slurm)->host == "fd00::1");
  CHECK(discover(flags, slurm)->port == 99);
  flags.rendezvous = "fd99::1";
  CHECK(discover(flags, slurm)->host == "fd99::1");
  CHECK(discover(flags, slurm)->port == 29777);
  for (const char* bad : {":99", "h:0", "h:70000", "h:x", "[fd00::1", "[fd00::1]x"}) {
    flags.rendezvous = bad;
    CHECK_THROWS_WITH(discover(flags, slurm), Contains("--rendezvous"));
  }
}

TEST_CASE("the first host of a Slurm node list") {
  CHECK(first_of_hostlist("a") == "a");
  CHECK(first_of_hostlist("a,b") == "a");
  CHECK(first_of_hostlist("rack[1-2]n[07,09]-ib,x") == "rack1n07-ib");
  CHECK(first_of_hostlist("a[1-2").empty());
  CHECK(first_of_hostlist("").empty());
}

TEST_CASE("Open MPI sets rank and size; the ranks meet on their one host, or where mpirun runs") {
  std::map<std::string, std::string> mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                                            {"OMPI_COMM_WORLD_SIZE", "2"},
                                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  CHECK(discover({}, mpi)->host == "127.0.0.1");
  mpi["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  CHECK_THROWS_WITH(discover({}, mpi), Contains("--rendezvous HOST"));
  mpi["OMPI_MCA_orte_hnp_uri"] = "2356871168.0;tcp://10.1.2.3,172.17.0.2:44711";
  CHECK(discover({}, mpi)->host == "10.1.2.3");
  CHECK(discover({}, mpi)->host_is_guess);
  WorldFlags flags;
  flags.rendezvous = "node1";
  CHECK(discover(flags, mpi)->rank == 1);
  CHECK(discover(flags, mpi)->host == "node1");
  CHECK_FALSE(discover(flags, mpi)->host_is_guess);
}

TEST_CASE("flags take precedence over the environment, and a rank must exist") {
  WorldFlags flags{1, 2, "h:1"};
  const auto world = discover(flags, {{"RANK", "3"}, {"WORLD_SIZE", "8"}});
  CHECK(world->size == 2);
  flags.rank = 2;
  CHECK_THROWS_WITH(discover(flags, {}), Contains("rank 2 does not exist among 2"));
  flags = {0, 0, "h:1"};
  CHECK_THROWS_WITH(discover(flags, {}), Contains("--rank and --world"));
  CHECK_THROWS_WITH(discover({}, {{"RANK", "x"}, {"WORLD_SIZE", "8"}}), Contains("'x'"));
}
