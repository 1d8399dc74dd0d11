#include "synth/plan/plan_file.h"

#include "synth/evaluate/verify.h"
#include "synth/networks.h"
#include "synth/search/synthesis.h"

namespace dlcp::synth {
namespace {

Plan plan_for(const Topology& topology, Collective collective) {
  auto made = synthesise(topology, collective, {1024, 1e6, 1e9});
  REQUIRE(made.ok());
  INFO(made->fault);
  CHECK(made->verified);
  return made->plan;
}

}  // namespace

TEST_CASE("a plan is read back from its file unchanged, and its proof still holds") {
  for (const Topology& topology :
       {leaf_spine(2, 4, "100G", "50G"), taccl("ndv2.json", "ndv2-x2.json")}) {
    for (const Collective collective : kCollectives) {
      const Plan plan = plan_for(topology, collective);
      auto read = read_plan(write_plan(plan), "plan");
      INFO((read.ok() ? std::string() : read.error().message()));
      REQUIRE(read.ok());
      CHECK(write_plan(read.value()) == write_plan(plan));
      for (const Bracket& bracket : read->brackets)
        CHECK(verify(expand(bracket.recipe, collective, plan.ranks).value()).correct);
    }
  }
}

TEST_CASE("a plan for one rank sends nothing") {
  const Plan plan = plan_for(star(1), Collective::kAllReduce);
  CHECK(expand(plan.brackets[0].recipe, Collective::kAllReduce, 1).value().messages.empty());
}

TEST_CASE("a changed plan, or one of another version, is refused") {
  const std::string text = write_plan(plan_for(star(4), Collective::kAllReduce));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const auto at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    auto read = read_plan(changed, "p.json");
    REQUIRE(!read.ok());
    return read.error().message();
  };
  CHECK(with("\"slices\":1", "\"slices\":2").find("the file was changed") != std::string::npos);
  CHECK(with("\"version\":1", "\"version\":9") ==
        "p.json: the plan has version 9, but this program reads version 1; create it again with "
        "dlcp synth -o");
  CHECK(with("\"ranks\":4", "\"ranks\":-4").find("-4 is not between 1 and 1024") !=
        std::string::npos);
  const std::string lists = std::string(300'000, '[') + std::string(300'000, ']');
  CHECK(with("\"version\":1", "\"version\":" + lists).find("in each other") != std::string::npos);
  CHECK(!read_plan("{}", "p").ok());
  CHECK(!read_plan("[", "p").ok());
}

TEST_CASE("two equivalent plans have the same hash, others do not") {
  Plan plan = plan_for(star(4), Collective::kAllReduce);
  const std::string hash = hash_of(plan);
  plan.brackets[0].seconds = 17;
  plan.topology = "other";
  CHECK(hash_of(plan) == hash);
  plan.brackets[0].recipe.slices++;
  CHECK(hash_of(plan) != hash);
}

}  // namespace dlcp::synth
