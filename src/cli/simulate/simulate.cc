// `dlcp simulate`: the real protocol and other transports on simulated fabrics.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "cli/command_line/options/options.h"
#include "cli/command_line/output/document.h"
#include "cli/command_line/output/json_text.h"
#include "cli/command_line/output/moving_line.h"
#include "cli/command_line/terminal.h"
#include "cli/command_line/text_file.h"
#include "cli/commands.h"
#include "cli/simulate/scenario_file.h"
#include "cli/simulate/simulate_report.h"

namespace dlcp::cli {
namespace {

constexpr const char* kFooter = R"(Arguments
  list       list the figures
  validate   compare the simulator with closed forms and published results
  F3 ...     simulate a figure; without --quick this takes minutes
  FILE.yaml  simulate a fabric and a load of your own (docs/simulation.md)

The transport dlcp is the code that runs in jobs, driven by the engine's own
loop. The others are models. NSCC is Ultra Ethernet's congestion control with
spraying over 256 paths and trimming switches. DCTCP uses one path. pFabric
serves the message with the fewest remaining bytes first, PIAS the message that
has sent the fewest bytes, and NDP uses pull packets. RoCE is RoCE as used
today: DCQCN, go-back-N, pause frames, one path. The models' hosts have no
processing costs.

Examples
  dlcp simulate validate
  dlcp simulate F4 --quick
  dlcp simulate F2 --only 'ResNet50, 100G' --seeds 1
  dlcp simulate F3 --seeds 10 --plot out --json > f3.json
  dlcp simulate docs/scenarios/incast.yaml

Exit codes
  0 done   1 a check of validate failed, or a load did not end   2 usage error)";

constexpr std::size_t kFigureSeeds = 3;

struct SimulateOptions {
  std::string what;
  std::string plot;
  std::string only;
  std::optional<std::size_t> seeds;
  bool quick = false;
  bool placed = false;
  bool json = false;
};

ExitCode fail(const std::string& message) {
  fmt::print(stderr, "dlcp simulate: {}\n", message);
  return ExitCode::kUsage;
}

ExitCode list(bool json) {
  Document table;
  table.headings = {"figure", "title"};
  for (const auto& entry : simulate::figures())
    table.rows.push_back({std::string(entry.name), std::string(entry.title)});
  fmt::print("{}", json ? json_text(table.to_json(), 2) + "\n" : table.to_text(output_width()));
  return ExitCode::kOk;
}

ExitCode validate(const SimulateOptions& options) {
  std::optional<MovingLine> line(std::in_place);
  line->show("dlcp simulate: closed forms");
  auto checks = simulate::closed_forms();
  const auto more = simulate::published(
      options.quick, [&](const std::string& what) { line->show("dlcp simulate: " + what); });
  checks.insert(checks.end(), more.begin(), more.end());
  line.reset();
  fmt::print("{}", options.json ? json_text(checks_json(checks), 2) + "\n" : checks_text(checks));
  const bool ok = std::all_of(checks.begin(), checks.end(),
                              [](const simulate::Check& check) { return check.ok(); });
  return ok ? ExitCode::kOk : ExitCode::kWrongData;
}

using Make = std::function<simulate::Figure(const simulate::FigureWishes& wishes)>;

ExitCode draw(const SimulateOptions& options, const std::string& name, std::size_t seeds,
              const Make& make) {
  // Checked before minutes of simulation whose picture could not be written.
  if (!options.plot.empty() && !std::filesystem::is_directory(options.plot))
    return fail(fmt::format("--plot: '{}' is not a folder; create it first", options.plot));
  std::optional<MovingLine> line(std::in_place);
  simulate::FigureWishes wishes;
  wishes.quick = options.quick;
  wishes.placed = options.placed;
  wishes.only = options.only;
  wishes.seeds = options.seeds.value_or(seeds);
  wishes.progress = [&](const std::string& what) { line->show("dlcp simulate: " + what); };
  simulate::Figure figure;
  try {
    figure = make(wishes);
  } catch (const std::runtime_error& error) {
    line.reset();
    fmt::print(stderr, "dlcp simulate: {}\n", error.what());
    return ExitCode::kWrongData;
  }
  line.reset();
  if (figure.rows.empty())
    return fail(
        fmt::format("--only: no case of {} has '{}' in its name or in the name of its "
                    "transport; run without --only to see all cases",
                    name, options.only));
  if (!options.plot.empty()) {
    const std::string path = fmt::format("{}/{}.svg", options.plot, name);
    if (const auto written = write_text_file(path, simulate::figure_svg(figure)); !written)
      return fail(written.error().message());
  }
  fmt::print("{}", options.json ? json_text(figure_json(figure), 2) + "\n" : figure_text(figure));
  return ExitCode::kOk;
}

bool names_a_file(const std::string& what) {
  return what.ends_with(".yaml") || what.ends_with(".yml") || what.find('/') != std::string::npos;
}

ExitCode run_scenario(const SimulateOptions& options) {
  if (options.quick)
    return fail("--quick works only with figures; edit the file to make a scenario smaller");
  const auto scenario = read_scenario(options.what);
  if (!scenario) return fail(scenario.error().message());
  const auto name = std::filesystem::path(options.what).stem().string();
  return draw(options, name, scenario.value().seeds, [&](const simulate::FigureWishes& wishes) {
    return simulate::scenario_figure(scenario.value(), wishes);
  });
}

ExitCode run(const SimulateOptions& options) {
  if (options.what == "list") return list(options.json);
  if (options.what == "validate") return validate(options);
  if (names_a_file(options.what)) return run_scenario(options);
  std::string known;
  for (const auto& entry : simulate::figures()) {
    if (entry.name == options.what) return draw(options, options.what, kFigureSeeds, entry.make);
    known += fmt::format(", {}", entry.name);
  }
  return fail(
      fmt::format("'{}' is not a figure; give list, validate{}, or a file whose name ends in "
                  ".yaml",
                  options.what, known));
}

}  // namespace

void add_simulate(CLI::App& app, ExitCode& exit_code) {
  CLI::App& verb =
      add_verb(app, "simulate", "Compares DLCP with other transports on simulated fabrics");
  auto options = std::make_shared<SimulateOptions>();
  SimulateOptions& o = *options;
  auto* what = add_text(verb, "what", o.what, "list, validate, the name of a figure, or FILE.yaml");
  add_flag(verb, "--quick", o.quick,
           "Use 16 hosts and short transfers: takes seconds instead of minutes");
  add_flag(verb, "--placed", o.placed,
           "DLCP's network cards place data in posted buffers (DLCP_ROCE_PLACEMENT)");
  add_count(verb, "--seeds", o.seeds, {1, 1000},
            "Runs of each case, with different seeds (default 3, or the value in the file)");
  add_text(verb, "--only", o.only, "Run only cases whose name or transport contains this");
  add_text(verb, "--plot", o.plot, "Write NAME.svg into this folder, which must exist");
  add_flag(verb, "--json", o.json, "Print JSON instead of a table");
  complete(verb, kFooter, [=, &exit_code] {
    if (!given(what)) miss("what to simulate (list, validate, a figure or FILE.yaml)");
    exit_code = run(*options);
  });
}

}  // namespace dlcp::cli
