#include <CLI/CLI.hpp>
#include <algorithm>

#include "catch.h"
#include "cli/bench/cases/bench_options.h"

using namespace dlcp::cli;

namespace {

std::vector<BenchCase> cases(std::vector<std::string> arguments, int world_size = 0) {
  CLI::App app;
  BenchOptions options;
  add_options(app, options);
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  return options.cases(world_size, options.read_plan());
}

}  // namespace

TEST_CASE("sizes may be lists, and no message is longer than NCCL's longest") {
  CHECK(parse_sizes("64,4k,1MiB,1MB") == std::vector<std::size_t>{64, 4096, 1 << 20, 1000000});
  for (const char* bad : {"", "K", "-1", "1.5M", "64,", "2G", "99999999999999999999"})
    CHECK_THROWS_AS(parse_sizes(bad), BenchError);
  CHECK(format_size(1 << 20) == "1M");
  CHECK(format_size(1000) == "1000");
}

TEST_CASE("shares and times have the same format as in settings") {
  CHECK(cases({"--loss", "1%"})[0].loss == Approx(0.01));
  CHECK(cases({"--seconds", "500ms"})[0].seconds == Approx(0.5));
  CHECK(cases({"--mode", "ring", "--loss-budget", "0.5%"})[0].loss_budget == Approx(0.005));
}

TEST_CASE("each mode has its own defaults") {
  CHECK(cases({})[0].ranks == 2);
  CHECK(cases({})[0].size == 1 << 20);
  CHECK(cases({"--mode", "ring"})[0].ranks == 4);
  CHECK(cases({"--mode", "ring"})[0].size == 16 << 20);
  CHECK(cases({"--mode", "lat"})[0].size == 64);
  CHECK(cases({"--mode", "abort"})[0].inflight == 32);
  CHECK(cases({"--mode", "alltoall"}, 8)[0].ranks == 8);
  CHECK(cases({"--flags", "ll128"})[0].iterations > 0);
  CHECK(cases({"--mode", "allreduce"})[0].ranks == 8);
  CHECK(cases({"--mode", "allreduce"})[0].channels == 2);
  CHECK(cases({"--mode", "allreduce"})[0].algorithm == Algorithm::kRing);
  CHECK(cases({"--mode", "allreduce", "--algo", "direct", "--type", "bf16", "--op", "max",
               "--rounds", "20", "--size", "6"})[0]
            .iterations == 20);
  CHECK(cases({"--size", "64,4K"}).size() == 2);
}

TEST_CASE("several plugins run in turn, shorter than one plugin alone") {
  const auto alone = cases({"--plugin", "a"})[0];
  CHECK(alone.plugins.size() == 1);
  CHECK(alone.turns == 0);
  CHECK(alone.seconds == Approx(2));
  const auto two = cases({"--plugin", "a", "--plugin", "b,DLCP_PATHS=2"})[0];
  REQUIRE(two.plugins.size() == 2);
  CHECK(two.plugins[1].name == "b");
  CHECK(settings_text(two.plugins[1]) == "DLCP_PATHS=2");
  CHECK(two.turns == 11);
  CHECK(two.seconds == Approx(0.3));
  CHECK(two.warmup_seconds == Approx(0.1));
  const auto given = cases({"--plugin", "a", "--plugin", "b", "--turns", "5", "--seconds", "1"})[0];
  CHECK(given.turns == 5);
  CHECK(given.seconds == Approx(1));
}

TEST_CASE("a plugin's settings follow its file, and other commas belong to names and values") {
  const auto parts = [](const char* text) {
    const PluginChoice choice = parse_plugin_choice(text);
    return choice.name + "|" + settings_text(choice);
  };
  CHECK(parts("") == "|");
  CHECK(parts("dlcp") == "dlcp|");
  CHECK(parts("lib/a,b.so") == "lib/a,b.so|");
  CHECK(parts(",DLCP_PATHS=2") == "|DLCP_PATHS=2");
  CHECK(parts("a.so,X1=1,_Y=2") == "a.so|X1=1,_Y=2");
  CHECK(parts("a.so,DLCP_FAULT=drop=0.01,seed=3") == "a.so|DLCP_FAULT=drop=0.01,seed=3");
  CHECK(parse_plugin_choice("a.so,DLCP_FAULT=drop=1,seed=3,X=").environment.size() == 2);
  CHECK(parts("a.so,1X=2,=3,Xy=4,") == "a.so,1X=2,=3,Xy=4,|");
}

TEST_CASE("--data is accepted in modes that generate payloads") {
  CHECK(cases({})[0].data == Data::kRandom);
  for (const char* mode : {"bw", "lat", "incast", "alltoall"})
    CHECK(cases({"--mode", mode, "--data", "amp"})[0].data == Data::kAmp);
  for (const char* mode : {"ring", "allreduce", "abort"})
    CHECK_THROWS_AS(cases({"--mode", mode, "--data", "bf16"}), BenchError);
  CHECK(cases({"--mode", "ring", "--data", "amp"})[0].data == Data::kAmp);
  CHECK(cases({"--mode", "allreduce", "--data", "amp"})[0].data == Data::kAmp);
  CHECK_THROWS_AS(cases({"--mode", "abort", "--data", "amp"}), BenchError);
  CHECK_THROWS_AS(cases({"--mode", "ring", "--data", "amp", "--ranks", "33"}), BenchError);
  CHECK_THROWS_AS(cases({"--mode", "allreduce", "--data", "amp", "--type", "bf16"}), BenchError);
}

TEST_CASE("ranks run in the namespaces that a plan names, in its order") {
  using Names = std::vector<std::string>;
  CHECK(cases({})[0].namespaces.empty());
  CHECK(cases({"--netns", "lab"})[0].namespaces == Names{"lab0", "lab1"});
  CLI::App app;
  BenchOptions options;
  add_options(app, options);
  app.parse("--netns lab --size 64");
  dlcp::synth::Plan plan;
  plan.ranks = 2;
  plan.rank_names = {"lab1", "lab0"};
  plan.brackets.push_back(
      {0, {"ring", dlcp::synth::Family::kExchange, {0, 1}, {{2, true}}, {}, {}, {}, 1}, 0, 1});
  CHECK(options.cases(0, plan)[0].namespaces == Names{"lab1", "lab0"});
  plan.rank_names = {"host1", "host0"};
  CHECK(options.cases(0, plan)[0].namespaces == Names{"lab0", "lab1"});
}

TEST_CASE("a bad command line is refused with the value and a correction") {
  const std::pair<std::vector<std::string>, std::string> table[] = {
      {{"--mode", "bandwith"}, "'bandwith' is not valid"},
      {{"--ranks", "1"}, "2..1000000"},
      {{"--ranks", "3"}, "even number"},
      {{"--mode", "lat", "--ranks", "4"}, "exactly 2 ranks"},
      {{"--mode", "ring", "--size", "30"}, "multiple of 4"},
      {{"--flags", "ll", "--size", "24"}, "lines of 16 bytes"},
      {{"--flags", "ll128", "--mode", "ring"}, "only with modes bw, incast and alltoall"},
      {{"--mode", "allreduce", "--size", "6"}, "elements of --type f32 have 4 bytes"},
      {{"--mode", "allreduce", "--size", "0"}, "give a multiple"},
      {{"--mode", "allreduce", "--type", "f8"}, "'f8' is not valid"},
      {{"--mode", "allreduce", "--algo", "tree"}, "direct, hub, plan, ring, switch"},
      {{"--mode", "allreduce", "--hubs", "2"}, "only with --mode allreduce --algo hub"},
      {{"--mode", "allreduce", "--algo", "hub", "--hubs", "65"}, "1 to 64"},
      {{"--mode", "allreduce", "--algo", "hub", "--hubs", "a b"}, "--hubs: "},
      {{"--mode", "allreduce", "--switch", "tor1"}, "only with --mode allreduce --algo switch"},
      {{"--mode", "allreduce", "--algo", "switch", "--switch", "tor1:0"}, "--switch: "},
      {{"--mode", "allreduce", "--algo", "switch", "--ranks", "33"}, "of at most 32 ranks"},
      {{"--mode", "allreduce", "--algo", "direct", "--abi", "7"}, "versions 8 to 12"},
      {{"--mode", "allreduce", "--ranks", "1"}, "2..1000000"},
      {{"--mode", "ring", "--op", "max"}, "only with --mode allreduce"},
      {{"--mode", "allreduce", "--algo", "switch", "--loss-budget", "1%"}, "only with modes ring"},
      {{"--mode", "allreduce", "--type", "f16", "--loss-budget", "1%"}, "not for f16 sum"},
      {{"--turns", "5"}, "at least two --plugin"},
      {{"--plugin", "a", "--plugin", "b", "--turns", "0"}, "1..1000"},
      {{"--plugin", "a", "--plugin", "b", "--mode", "abort"}, "does not work with --mode abort"},
      {{"--plugin", "a", "--plugin", "b", "--kill-rank", "1"}, "--kill-rank"},
      {{"--plugin", "a", "--plugin", "b", "--mode", "allreduce", "--algo", "switch"},
       "--algo switch"},
      {{"--inflight", "0"}, "1..256"},
      {{"--kill-rank", "2"}, "no such rank among 2"},
      {{"--seconds", "0"}, "0.001"},
      {{"--seconds", "nan"}, "'nan' is not valid"},
      {{"--timeout", "-1"}, "'-1' is not valid"},
      {{"--loss-budget", "nan"}, "'nan' is not valid"},
      {{"--loss-budget", "1e-9"}, "1e-06..0.25"},
      {{"--loss", "100%"}, "'100%' is not valid"},
      {{"--ranks", "100000"}, "at most 512"},
      {{"--kill-after-ms", "5"}, "--kill-rank"},
      {{"--idle", "nap"}, "auto, sleep, spin, yield"},
  };
  for (const auto& [arguments, text] : table)
    CHECK_THROWS_WITH(cases(arguments), Contains(text));
  CHECK_THROWS_WITH(cases({"--ranks", "4"}, 2), Contains("job's 2 processes"));
  CHECK_THROWS_WITH(cases({"--mode", "allreduce", "--algo", "hub"}, 2), Contains("needs --hubs"));
  CHECK_THROWS_WITH(cases({"--mode", "allreduce", "--algo", "switch"}, 2),
                    Contains("needs --switch"));
}
