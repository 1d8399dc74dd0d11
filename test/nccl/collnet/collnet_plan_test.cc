// All-reduces by a plan (DLCP_PLAN) through the plugin's own table, over loopback.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "collective_group.h"
#include "synth/plan/plan_file.h"

namespace {

using namespace dlcp::test;
using dlcp::synth::Family;
using dlcp::synth::Plan;

// A ring plan in a temporary file.
class PlanFile {
 public:
  explicit PlanFile(int ranks)
      : path_(std::filesystem::temp_directory_path() / ("dlcp-plan-" + std::to_string(getpid()))) {
    Plan plan;
    plan.topology = "test";
    plan.ranks = ranks;
    plan.rank_names.resize(static_cast<std::size_t>(ranks));
    dlcp::synth::Recipe ring{"ring", Family::kExchange, {}, {{ranks, true}}, {}, {}, {}, 1};
    for (int rank = 0; rank < ranks; ++rank)
      ring.order.push_back(rank);
    plan.brackets.push_back({0, ring, 0, 1});
    std::ofstream(path_) << dlcp::synth::write_plan(plan);
  }
  ~PlanFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

using Vectors = std::vector<std::vector<float>>;

// Whole numbers, so that every order of addition gives the same sum; halves and thirds in `part`.
Vectors inputs_of(int ranks, std::size_t count, float part) {
  Vectors inputs(static_cast<std::size_t>(ranks), std::vector<float>(count));
  for (std::size_t rank = 0; rank < inputs.size(); ++rank)
    for (std::size_t i = 0; i < count; ++i)
      inputs[rank][i] = static_cast<float>((i * 31 + rank * 17) % 1000) * part;
  return inputs;
}

Vectors reduced(CollectiveGroup& group, const Vectors& inputs) {
  Vectors results(inputs.size(), std::vector<float>(inputs[0].size()));
  for (const ResultCode code : group.all_reduce(inputs, results))
    REQUIRE(code == ResultCode::kSuccess);
  return results;
}

void check_sums(CollectiveGroup& group, std::size_t count) {
  const Vectors whole = inputs_of(group.ranks(), count, 1);
  const Vectors sums = reduced(group, whole);
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (const auto& input : whole)
      sum += input[i];
    REQUIRE(sums[0][i] == sum);
  }
  const Vectors parts = inputs_of(group.ranks(), count, 1.0f / 3);
  const Vectors first = reduced(group, parts), second = reduced(group, parts);
  for (std::size_t rank = 0; rank < first.size(); ++rank) {
    REQUIRE(sums[rank] == sums[0]);
    REQUIRE(std::memcmp(first[rank].data(), first[0].data(), count * 4) == 0);
    REQUIRE(std::memcmp(second[rank].data(), first[0].data(), count * 4) == 0);
  }
}

}  // namespace

TEST_CASE("with DLCP_PLAN all-reduces follow the plan, with the same bits on all ranks") {
  const PlanFile plan(4);
  CollectivePlugin fixture(Settings{{"DLCP_PLAN", plan.path()}});
  CollectiveGroup group(*fixture.plugin, 4);
  group.connect();
  for (int rank = 0; rank < 4; ++rank)
    REQUIRE(group.rank(rank).connected == ResultCode::kSuccess);
  CHECK_THAT(joined_log(), Contains("all-reduces of 4 ranks follow plan "));
  for (const std::size_t count : {1u, 7u, 8192u, 300'007u})
    check_sums(group, count);
}

TEST_CASE("a plan gives correct sums over a network that loses, duplicates and reorders") {
  const PlanFile plan(3);
  CollectivePlugin fixture(Settings{{"DLCP_PLAN", plan.path()},
                                    {"DLCP_FAULT", "drop=0.02,dup=0.01,reorder=0.02,seed=3"}});
  CollectiveGroup group(*fixture.plugin, 3);
  group.connect();
  for (std::size_t count = 1; count < 60'000; count += 9973)
    check_sums(group, count);
}

TEST_CASE("a plan that does not fit the group is refused with a message of one line") {
  const PlanFile plan(4);
  CollectivePlugin fixture(Settings{{"DLCP_PLAN", plan.path()}});
  CollectiveGroup group(*fixture.plugin, 3);
  group.connect();
  for (int rank = 0; rank < 3; ++rank)
    CHECK(group.rank(rank).connected == ResultCode::kInvalidUsage);
  CHECK_THAT(joined_log(), Contains("the plan is for 4 ranks, but the communicator has 3"));
}

TEST_CASE("an unreadable plan is refused with its name") {
  CollectivePlugin fixture(Settings{{"DLCP_PLAN", "/nowhere/plan.json"}});
  CollectiveGroup group(*fixture.plugin, 2);
  group.connect();
  CHECK(group.rank(0).connected == ResultCode::kInvalidUsage);
  CHECK(group.rank(1).connected == ResultCode::kInvalidUsage);
  CHECK_THAT(joined_log(), Contains("DLCP_PLAN") && Contains("/nowhere/plan.json"));
}

TEST_CASE("a rank that leaves ends the others' planned all-reduces with an error") {
  const PlanFile plan(3);
  CollectivePlugin fixture(Settings{{"DLCP_PLAN", plan.path()}});
  CollectiveGroup group(*fixture.plugin, 3);
  group.connect();
  check_sums(group, 1000);
  group.close(1);
  const Vectors inputs = inputs_of(3, 1000, 1);
  Vectors results(3, std::vector<float>(1000));
  const auto codes = group.all_reduce(inputs, results);
  CHECK(codes[0] == ResultCode::kRemoteError);
  CHECK(codes[2] == ResultCode::kRemoteError);
}
