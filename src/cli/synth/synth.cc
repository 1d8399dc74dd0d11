// `dlcp synth`: reads a topology, plans a collective for it, prints the result.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command_line/options/options.h"
#include "cli/command_line/output/json_text.h"
#include "cli/command_line/output/moving_line.h"
#include "cli/command_line/text_file.h"
#include "cli/commands.h"
#include "cli/launch/clock.h"
#include "cli/synth/mscclpp_file.h"
#include "cli/synth/synth_report.h"
#include "cli/synth/topology_input.h"
#include "synth/evaluate/simulate.h"
#include "synth/output/msccl_xml.h"
#include "synth/output/timeline.h"
#include "synth/plan/plan_file.h"
#include "synth/search/synthesis.h"
#include "util/text/quantity.h"

namespace dlcp::cli {
namespace {

constexpr const char* kFooter = R"(Topologies
  links       YAML or JSON: ranks, switches, links with a rate; docs/synth.md
  order.json  a fabric measured by dlcp order
  intent.yaml leaves and spines, an intent of dlcp-switch
  TACCL's     topology JSON, with --sketch for several boxes

Rates are the buffer of a rank divided by the time, in GB/s of 10^9 bytes. The
bound is proven by maximum flows: no algorithm that forwards whole messages is
faster. Times come from a simulation with contention on every link.

Examples
  dlcp synth fabric.yaml --collective allreduce -o plan.json
  dlcp synth ndv2.json --sketch relay.json --collective allgather --size 1G
  dlcp bench --mode plan --plan plan.json --netns PREFIX

Exit codes
  0 planned and proven   1 the plan is not proven   2 usage error or bad topology)";

struct SynthOptions {
  std::string topology;
  std::string sketch;
  std::string collective = "allreduce";
  synth::Algorithms algorithms = synth::Algorithms::kAll;
  std::string size;
  std::string output;
  std::string plot;
  std::string msccl_xml;
  std::string mscclpp_json;
  int box = 0;  // 0: from the topology
  bool json = false;
};

const std::map<std::string, synth::Algorithms> kAlgorithms = {
    {"best", synth::Algorithms::kAll},
    {"ring", synth::Algorithms::kNcclRing},
    {"tree", synth::Algorithms::kNcclTree}};

Result<std::vector<double>> sizes_of(const std::string& text) {
  if (text.empty())
    return std::vector<double>{1 << 10, 1 << 14, 1 << 16, 1 << 18,
                               1 << 20, 1 << 24, 1 << 28, 1 << 30};
  std::vector<double> sizes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    const auto bytes = parse_bytes(one);
    if (!bytes || *bytes < 1 || *bytes > std::uint64_t{1} << 50)
      return Error{ErrorCode::kInvalidUsage, fmt::format("--size: '{}' is not valid", one),
                   fmt::format("give 1 byte to 1 PiB, for example {}", kBytesExample)};
    sizes.push_back(static_cast<double>(*bytes));
    at = end + 1;
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

ExitCode fail(const Error& error) {
  fmt::print(stderr, "dlcp synth: {}\n", error.message());
  return ExitCode::kUsage;
}

// The schedule of the largest size; unsliced for readers that slice it themselves.
Result<synth::Schedule> last_schedule(const synth::Plan& plan, bool with_slices) {
  synth::Recipe recipe = plan.brackets.back().recipe;
  if (!with_slices) recipe.slices = 1;
  return synth::expand(recipe, plan.collective, plan.ranks);
}

Status write_picture(const std::string& path, const synth::Topology& topology,
                     const synth::Synthesis& made) {
  auto schedule = last_schedule(made.plan, true);
  if (!schedule) return schedule.error();
  const synth::Routes routes(topology);
  const auto simulated =
      synth::simulate(topology, routes, schedule.value(), made.outcomes.back().bytes, true);
  const std::string title =
      fmt::format("{} of {} bytes on {}: {}", synth::name_of(made.plan.collective),
                  made.outcomes.back().bytes, topology.name, made.plan.brackets.back().recipe.name);
  return write_text_file(path, synth::timeline_svg(topology, schedule.value(), simulated, title));
}

Status write_files(const SynthOptions& options, const synth::Topology& topology,
                   const synth::Synthesis& made, const synth::Wishes& wishes) {
  if (!options.output.empty()) {
    if (auto written = write_text_file(options.output, synth::write_plan(made.plan)); !written)
      return written;
  }
  if (!options.msccl_xml.empty()) {
    auto schedule = last_schedule(made.plan, false);
    if (!schedule) return schedule.error();
    if (auto written =
            write_text_file(options.msccl_xml, synth::msccl_xml(schedule.value(), topology.name));
        !written)
      return written;
  }
  if (!options.mscclpp_json.empty()) {
    auto note = write_mscclpp_file(options.mscclpp_json, topology, made, wishes,
                                   options.box > 0 ? options.box : topology.box);
    if (!note) return note.error();
    if (!note->empty()) fmt::print(stderr, "dlcp synth: {}\n", note.value());
  }
  return options.plot.empty() ? Status(Unit{}) : write_picture(options.plot, topology, made);
}

ExitCode run(const SynthOptions& options) {
  const auto sizes = sizes_of(options.size);
  if (!sizes) return fail(sizes.error());
  auto topology = read_topology(options.topology, options.sketch);
  if (!topology) return fail(topology.error());
  const std::int64_t start = now_ns();
  std::optional<MovingLine> line(std::in_place);
  synth::Wishes wishes;
  wishes.algorithms = options.algorithms;
  wishes.progress = [&](const std::string& what) {
    if (line) line->show("dlcp synth: " + what);
  };
  auto made = synth::synthesise(topology.value(), *synth::collective_of(options.collective),
                                sizes.value(), wishes);
  line.reset();
  if (!made) return fail(made.error());
  const SynthReport report{topology.value(), made.value(),
                           static_cast<double>(now_ns() - start) * 1e-9};
  if (made->verified) {
    if (const auto written = write_files(options, topology.value(), made.value(), wishes); !written)
      return fail(written.error());
  }
  fmt::print("{}", options.json ? json_text(report.to_json(), 2) + "\n" : report.to_text());
  return made->verified ? ExitCode::kOk : ExitCode::kWrongData;
}

}  // namespace

void add_synth(CLI::App& app, ExitCode& exit_code) {
  CLI::App& verb = add_verb(app, "synth",
                            "Plans a collective for a topology, and proves a bound for "
                            "comparison");
  auto options = std::make_shared<SynthOptions>();
  SynthOptions& o = *options;
  auto* topology = add_text(verb, "topology", o.topology, "File that describes the network");
  add_text(verb, "--sketch", o.sketch, "TACCL's sketch, in addition to its topology");
  std::vector<std::string> names;
  for (const synth::Collective one : synth::kCollectives)
    names.emplace_back(synth::name_of(one));
  add_choice(verb, "--collective", names, o.collective,
             "allreduce (default), allgather, reducescatter or alltoall");
  add_choice(verb, "--algorithm", kAlgorithms, o.algorithms,
             "best (default), or, for comparison, NCCL's ring or tree over the ranks in the "
             "given order");
  add_text(verb, "--size", o.size,
           "Buffer size of a rank in bytes, or a comma-separated list (allgather: size of the "
           "output); default: 1K to 1G");
  add_text(verb, "-o,--output", o.output, "Write the plan to this file, as JSON");
  add_text(verb, "--msccl-xml", o.msccl_xml,
           "Write the algorithm for the largest size to this file, as MSCCL's XML");
  auto* mscclpp =
      add_text(verb, "--mscclpp-json", o.mscclpp_json,
               "Write the algorithm for the largest size to this file, as a plan for MSCCL++'s "
               "executor");
  need(add_count(verb, "--box", o.box, {1, synth::Topology::kRanksMax},
                 "For --mscclpp-json: number of adjacent ranks that share memory (default: the "
                 "box size of a TACCL topology, else 1)"),
       mscclpp);
  add_text(verb, "--plot", o.plot,
           "Draw the transfers over time to this file, as SVG, for the largest size");
  add_flag(verb, "--json", o.json, "Print one JSON object, for the largest size");
  complete(verb, kFooter, [=, &exit_code] {
    if (!given(topology)) miss("a topology");
    exit_code = run(*options);
  });
}

}  // namespace dlcp::cli
