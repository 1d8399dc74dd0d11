#include "cli/bench/cases/bench_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/bench/cases/case_rules.h"
#include "cli/bench/modes/modes.h"
#include "cli/command_line/options/options.h"
#include "cli/command_line/text_file.h"
#include "collective/switchml/switch_name.h"
#include "dlcp/communicator_class.h"
#include "engine/hub/hub_places.h"
#include "synth/evaluate/verify.h"
#include "util/text/quantity.h"

namespace dlcp::cli {
namespace {

// The values of an enumeration by their names on the command line.
template <class T>
std::map<std::string, T> by_name(std::size_t count) {
  std::map<std::string, T> all;
  for (std::size_t i = 0; i < count; i++)
    all.emplace(name_of(static_cast<T>(i)), static_cast<T>(i));
  return all;
}

// Reads --algo, --type and --op.
void take_reduction(BenchCase& c, const BenchOptions& o) {
  if (c.mode != Mode::kAllReduce) {
    if (o.algorithm || o.type || o.op)
      refuse("--algo, --type and --op can be used only with --mode allreduce");
    return;
  }
  c.algorithm = o.algorithm.value_or(c.algorithm);
  c.reduction.type = o.type.value_or(c.reduction.type);
  c.reduction.op = o.op.value_or(c.reduction.op);
  if (by_collnet(c.algorithm) && c.abi != 0 && c.abi < 8)
    refuse(
        fmt::format("--abi {}: --algo {} uses NCCL's CollNet interface, which has versions 8 to "
                    "12",
                    c.abi, name_of(c.algorithm)));
  if (c.algorithm == Algorithm::kPlan) c.plan_file = std::filesystem::absolute(o.plan).string();
}

// The first plugin of NCCL's list. NCCL loads none if the list is "none"; the bench then runs
// DLCP's plugin, as without the variable.
PluginChoice plugin_of_environment() {
  const char* const list = std::getenv("NCCL_NET_PLUGIN");
  PluginChoice choice = parse_plugin_choice(list != nullptr ? list : "");
  choice.name = choice.name.substr(0, choice.name.find(','));
  if (choice.name == "none") choice.name.clear();
  return choice;
}

// Several plugins have short turns: the machine's speed seldom changes between two of them.
void take_plugins(BenchCase& c, const BenchOptions& o) {
  constexpr int kTurns = 11;
  c.plugins.clear();
  for (const std::string& text : o.plugins)
    c.plugins.push_back(parse_plugin_choice(text));
  if (c.plugins.empty()) c.plugins.push_back(plugin_of_environment());
  const bool several = c.plugins.size() > 1;
  c.turns = o.turns >= 0 ? o.turns : several ? kTurns : 0;
  c.seconds = o.seconds >= 0 ? o.seconds : several ? 0.3 : 2;
  c.warmup_seconds = o.warmup_seconds >= 0 ? o.warmup_seconds : several ? 0.1 : 0.3;
}

// Without network namespaces --loss is done by the switch that bench starts, and by the plugin for
// its own packets; a switch that the user names cannot be told to lose packets.
void take_switch(BenchCase& c, const BenchOptions& o, int world_size) {
  const std::string& name = o.switch_name;
  if (c.algorithm != Algorithm::kSwitch) {
    if (!name.empty()) refuse("--switch can be used only with --mode allreduce --algo switch");
    return;
  }
  if (name.empty() && world_size > 0)
    refuse(
        "--algo switch in a job of several processes needs --switch HOST:PORT; start "
        "dlcp-aggregator serve there");
  if (!name.empty() && c.loss > 0 && c.netns.empty())
    refuse(
        "--loss does not affect the switch that --switch names; start that dlcp-aggregator "
        "with --drop instead");
  if (const auto read = collective::switch_name(name.empty() ? "localhost" : name); !read)
    refuse(fmt::format("--switch: {}", read.error().message()));
  if (c.ranks > static_cast<int>(collective::kSwitchWorkersMax))
    refuse(fmt::format("--ranks {}: a switch adds the data of at most {} ranks", c.ranks,
                       collective::kSwitchWorkersMax));
  c.switch_name = name;
}

// --hubs is the number of hubs to start, or the addresses of running ones.
void take_hubs(BenchCase& c, const BenchOptions& o, int world_size) {
  constexpr int kOwnHubsMax = 64;
  if (c.algorithm != Algorithm::kHub) {
    if (!o.hubs.empty()) refuse("--hubs can be used only with --mode allreduce --algo hub");
    return;
  }
  const auto count = parse_count(o.hubs.empty() ? "2" : o.hubs);
  if (count && (*count < 1 || *count > kOwnHubsMax))
    refuse(fmt::format("--hubs {}: this program can start 1 to {} hubs", o.hubs, kOwnHubsMax));
  if (count && world_size > 0)
    refuse(
        "--algo hub in a job of several processes needs --hubs HOST:PORT,...; start dlcp-hub "
        "serve there");
  if (!count) {
    const auto places = engine::parse_hub_places(o.hubs);
    if (!places) refuse(fmt::format("--hubs: {}", places.error().message()));
    c.hubs = o.hubs;
  }
  c.own_hubs = static_cast<int>(count.value_or(0));
}

// The network namespace of each rank: PREFIX0, PREFIX1, ... A plan made from measurements of
// dlcp order names its hosts; where these are the same namespaces, the plan's order counts.
std::vector<std::string> namespaces_for(const BenchCase& c,
                                        const std::optional<synth::Plan>& planned) {
  std::vector<std::string> names;
  if (c.netns.empty()) return names;
  for (int rank = 0; rank < c.ranks; rank++)
    names.push_back(fmt::format("{}{}", c.netns, rank));
  if (planned && std::is_permutation(names.begin(), names.end(), planned->rank_names.begin(),
                                     planned->rank_names.end()))
    return planned->rank_names;
  return names;
}

// The plan's schedule for a buffer of `bytes`, sorted by step. Verifies it again, as the file
// may have been edited.
std::shared_ptr<const synth::Schedule> schedule_of(const synth::Plan& plan, std::size_t bytes) {
  synth::Recipe recipe = plan.bracket_for(static_cast<double>(bytes)).recipe;
  const int slices = recipe.slices;
  recipe.slices = 1;  // slices are independent copies: verifying one verifies all
  const auto once = value_or_throw(synth::expand(recipe, plan.collective, plan.ranks));
  const auto verdict = synth::verify(once);
  if (!verdict.correct)
    refuse(fmt::format("the plan's algorithm '{}' is wrong: {}", recipe.name, verdict.why));
  recipe.slices = slices;
  auto schedule = value_or_throw(synth::expand(recipe, plan.collective, plan.ranks));
  schedule.sort_by_step();
  return std::make_shared<const synth::Schedule>(std::move(schedule));
}

}  // namespace

std::optional<synth::Plan> BenchOptions::read_plan() const {
  const bool runs = common.mode == Mode::kPlan ||
                    (common.mode == Mode::kAllReduce && algorithm == Algorithm::kPlan);
  if (!runs && !plan.empty())
    refuse("--plan can be used only with --mode plan, or --mode allreduce --algo plan");
  if (!runs) return std::nullopt;
  if (plan.empty())
    refuse("--mode plan and --algo plan need --plan FILE; dlcp synth -o FILE writes one");
  auto read = value_or_throw(synth::read_plan(value_or_throw(read_text_file(plan)), plan));
  if (read.ranks < 2)
    refuse(
        fmt::format("{} is a plan for a single rank, which sends nothing; make a plan for at "
                    "least 2 ranks",
                    plan));
  return read;
}

std::vector<BenchCase> BenchOptions::cases(int world_size,
                                           const std::optional<synth::Plan>& planned) const {
  BenchCase c = common;
  c.check = !no_check;
  take_plugins(c, *this);
  c.one_host = world_size == 0;
  const ModeTraits& traits = traits_of(c.mode);
  c.ranks = ranks >= 0        ? ranks
            : planned         ? planned->ranks
            : world_size != 0 ? world_size
                              : traits.ranks;
  // NCCL's all-reduces use two channels at least.
  c.channels = channels >= 0 ? channels : c.mode == Mode::kAllReduce ? 2 : 1;
  take_reduction(c, *this);
  check_turns(c);
  take_switch(c, *this, world_size);
  take_hubs(c, *this, world_size);
  c.inflight = inflight >= 0 && !traits.reduces ? inflight : traits.inflight;
  if (by_collnet(c.algorithm)) c.inflight = 8;
  if (c.loss_budget > 0) check_budget(c);
  if (planned && planned->ranks != c.ranks)
    refuse(fmt::format("--plan {} is for {} ranks, but this run has {}", plan, planned->ranks,
                       c.ranks));
  check_ranks(c, world_size);
  if (c.data != Data::kRandom && !traits.makes_payload) check_data(c);
  if (c.canary &&
      ((c.mode != Mode::kRing && c.mode != Mode::kAllReduce) || by_collnet(c.algorithm)))
    refuse("--canary can be used only with mode ring, and allreduce with --algo ring");
  if (c.layers > 1 && c.mode != Mode::kRing) refuse("--layers can be used only with mode ring");
  if (!c.one_host && !c.netns.empty()) refuse("--netns works only if all ranks run on one machine");
  c.namespaces = namespaces_for(c, planned);
  std::vector<BenchCase> all;
  for (const std::size_t size : parse_sizes(sizes.empty() ? traits.size : sizes)) {
    c.size = size;
    if (planned && c.mode == Mode::kPlan) c.schedule = schedule_of(*planned, size);
    c.iterations = common.iterations;
    // The readers of flagged lines cannot see an end marker, so the number of messages is fixed.
    if (c.flags != LineFlags::kNone && c.iterations == 0)
      c.iterations =
          std::clamp<std::uint64_t>((64u << 20) / std::max<std::size_t>(size, 1), 100, 20000);
    check_size(c);
    all.push_back(c);
  }
  return all;
}

std::string BenchOptions::summary(const std::optional<synth::Plan>& planned) const {
  const BenchCase& c = common;
  const auto given = [](auto value) { return value < 0 ? "unset" : fmt::format("{}", value); };
  const auto named = [](const std::string& text) { return text.empty() ? "unset" : text; };
  const auto chosen = [](const auto& choice) { return choice ? name_of(*choice) : "unset"; };
  return fmt::format(
             "--plan {}\n--mode {}\n--algo {}\n--switch {}\n--hubs {}\n--type {}\n--op {}\n"
             "--size {}\n--flags {}\n--data {}\n",
             planned ? synth::hash_of(*planned) : "unset", name_of(c.mode), chosen(algorithm),
             named(switch_name), named(hubs), chosen(type), chosen(op), named(sizes),
             name_of(c.flags), name_of(c.data)) +
         fmt::format(
             "--ranks {}\n--inflight {}\n--channels {}\n--layers {}\n--iterations {}\n"
             "--seconds {}\n--warmup {}\n--seed {}\n--no-check {}\n--canary {}\n"
             "--loss-budget {}\nnumber of --plugin {}\n--turns {}",
             given(ranks), given(inflight), given(channels), c.layers, c.iterations, given(seconds),
             given(warmup_seconds), c.seed, no_check, c.canary, c.loss_budget,
             std::max(plugins.size(), std::size_t{1}), given(turns));
}

namespace {

void add_what_runs(CLI::App& bench, BenchOptions& o) {
  BenchCase& c = o.common;
  add_repeated(bench, "--plugin", o.plugins,
               "Plugin file, or X for libnccl-net-X.so; default: the first of NCCL_NET_PLUGIN, or "
               "DLCP's plugin. If given several times, the plugins run in turn in the same "
               "processes, and are compared with the first; FILE,NAME=VALUE,... adds environment "
               "variables for one plugin");
  add_count(bench, "--abi", c.abi, {6, 12},
            "Version of NCCL's interface to use, 6 to 12 (default: the highest)");
  add_choice(bench, "--mode", by_name<Mode>(kModes), c.mode,
             "bw, lat, ring, incast, alltoall, abort, plan or allreduce (default bw)");
  add_choice(
      bench, "--algo", by_name<Algorithm>(kAlgorithms), o.algorithm,
      "allreduce: ring, or an algorithm of the plugin's CollNet interface: direct, hub, plan "
      "(with --plan FILE), or switch (SwitchML) (default ring)");
  add_choice(bench, "--type", by_name<collective::DataType>(collective::kDataTypes), o.type,
             "allreduce: f16, f32, f64, bf16, i8, i32, i64, u8, u32 or u64 (default f32)");
  add_choice(bench, "--op", by_name<collective::ReduceOp>(collective::kReduceOps), o.op,
             "allreduce: sum, prod, max or min (default sum)");
  add_count(bench, "--ranks", o.ranks, {2, 1'000'000},
            "Processes (default 2; ring, incast, alltoall 4; allreduce 8; plan: as many as it "
            "has)");
  add_text(bench, "--size", o.sizes,
           "Message size, ring: vector size; 64, 4k, 1MiB or a comma list (default 1M, lat "
           "64, ring 16M)");
  add_text(bench, "--hubs", o.hubs,
           "--algo hub: number of dlcp-hub processes to start (default 2; with --netns in the "
           "namespaces after those of the ranks), or addresses of running hubs, HOST:PORT,...");
  add_text(bench, "--switch", o.switch_name,
           "--algo switch: HOST[:PORT][/SLOTS] of a switch or dlcp-aggregator, as in "
           "DLCP_COLLNET_SWITCH; default: start an aggregator for the duration of the bench");
  add_text(bench, "--plan", o.plan, "plan, --algo plan: file written by dlcp synth -o");
  add_count(bench, "--inflight", o.inflight, {1, 256},
            "Outstanding requests per connection (default 8, abort 32; rings always 4, direct "
            "8)");
  add_count(bench, "--channels", o.channels, {1, 64},
            "Connections per pair of ranks (default 1, allreduce 2); direct: number of chunks "
            "of a call");
  add_count(bench, "--layers", c.layers, {1, 16},
            "ring: reduce the vector as a training step does, in this number of parts of "
            "different sizes, one after the other (default 1)");
  add_choice(bench, "--flags", by_name<LineFlags>(kLineFlags), c.flags,
             "none, ll or ll128: use NCCL's flagged lines, which threads read while they arrive");
  add_choice(
      bench, "--data", by_name<Data>(kDatas), c.data,
      "bw, lat, incast, alltoall: random bytes, or numbers with the distribution of gradients: "
      "bf16, f32, amp (fp32 whose low 16 bits are zero), rows or rows-bf16 (f32 or bf16 in an "
      "embedding table, 95% of whose rows are zero); ring, allreduce: amp (default random)");
  add_share(bench, "--loss", c.loss, {0, 0.999},
            "Share of packets to lose, 0.01 or 1%: DLCP's plugin drops them (DLCP_FAULT); with "
            "--netns this is only a label, and the network must drop them");
  add_share(bench, "--loss-budget", c.loss_budget, {1e-6, CommunicatorClass::kBudgetPpmMax / 1e6},
            "Share of each sum that may be lost, 0.01 or 1%: the bench describes its transfers "
            "as NCCL does for a communicator with such a trafficClass; ring and allreduce also "
            "report the missing share");
  group_rest(bench, "Workload");
}

void add_how_it_runs(CLI::App& bench, BenchOptions& o) {
  BenchCase& c = o.common;
  add_count(bench, "--turns", o.turns, {1, 1000},
            "Several plugins: number of rounds; each plugin runs once in a round (default 11)");
  add_time(bench, "--seconds", o.seconds, {0.001, 1e6},
           "Measured time (default 2; several plugins: of each turn, default 0.3)");
  add_count(bench, "--iterations,--rounds", c.iterations, {0, INT64_MAX},
            "Messages per connection, round trips or all-reduces, instead of --seconds");
  add_time(bench, "--warmup", o.warmup_seconds, {0, 1e6},
           "Time before measuring (default 0.3; before each turn, default 0.1)");
  add_count(bench, "--seed", c.seed, {0, INT64_MAX},
            "Seed of payloads and injected faults (default 1)");
  add_time(bench, "--timeout", c.timeout, {0.001, 1e6},
           "Terminate all ranks after this time without progress (default 60: more than "
           "DLCP_PEER_TIMEOUT)");
  add_choice(
      bench, "--idle", by_name<Idle>(kIdles), c.idle,
      "Action while nothing progresses: spin, yield (as NCCL does), sleep 0.1 ms (for slow "
      "networks with more ranks than cores), or auto: spin if every rank has a core (default)");
  add_flag(bench, "--pin", c.pin, "Pin each rank to one core; the ranks take the cores in turn");
  add_flag(bench, "--no-check", o.no_check, "Do not compare the data that arrives");
  add_flag(bench, "--canary", c.canary,
           "Rings: fill each receive buffer after its use, and check that nothing changes it until "
           "it is posted again; changed bytes are wrong data");
  auto* kill = add_count(bench, "--kill-rank", c.kill_rank, {0, 1'000'000},
                         "SIGKILL this rank; every other must report an error");
  need(add_count(bench, "--kill-after-ms", c.kill_after_ms, {0, 86'400'000},
                 "... this many milliseconds after all connections are established (default "
                 "500)"),
       kill);
  add_flag(bench, "--each-finds-out", c.each_finds_out,
           "Do not stop the other ranks when one fails: each must detect the failure itself");
  add_flag(bench, "--json", o.json,
           "Print one JSON object, or an array for several sizes or plugins");
  group_rest(bench, "Execution");
}

void add_where_it_runs(CLI::App& bench, BenchOptions& o) {
  BenchCase& c = o.common;
  add_text(bench, "--netns", c.netns,
           "Run rank i in network namespace PREFIXi; if a plan names these namespaces, in the "
           "plan's order");
  add_flag(bench, "--device-by-rank", c.device_by_rank,
           "Rank i uses the plugin's device i first, as if each were a host; default: all ranks "
           "use the first device");
  add_count(bench, "--rank", o.world.rank, {0, 1'000'000},
            "This process's rank, if a launcher starts the others");
  add_count(bench, "--world", o.world.size, {2, 1'000'000},
            "... of this number of ranks; default: from Slurm, Open MPI, torchrun");
  add_text(bench, "--rendezvous", o.world.rendezvous,
           "HOST[:PORT] where rank 0 accepts the others (TCP); default: from the launcher, and "
           "port 29777");
  group_rest(bench, "Launch");
}

}  // namespace

void add_options(CLI::App& bench, BenchOptions& o) {
  add_what_runs(bench, o);
  add_how_it_runs(bench, o);
  add_where_it_runs(bench, o);
}

}  // namespace dlcp::cli
