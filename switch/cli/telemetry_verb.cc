// `dlcp-switch telemetry`: how to watch this fabric's queues, as files for Prometheus, gnmic and
// Grafana.
#include <fmt/core.h>

#include <memory>

#include "switch/cli/folder.h"
#include "switch/cli/load.h"
#include "switch/cli/output.h"
#include "switch/telemetry/collect.h"
#include "switch/telemetry/dashboard.h"
#include "switch/telemetry/rules.h"

namespace dlcp::fabric::cli {
namespace {

struct TelemetryOptions {
  IntentOptions intent;
  std::string folder = "switches";
};

std::vector<telemetry::TextFile> files_of(const std::string& fabric,
                                          const std::vector<telemetry::Watch>& watches) {
  auto files = telemetry::collection_files(fabric, watches);
  files.push_back({"rules.yml", telemetry::rules_text(fabric, watches)});
  files.push_back({"dashboard.json", telemetry::dashboard_text(fabric, watches)});
  for (auto& file : files)
    file.name = "telemetry/" + file.name;
  return files;
}

std::optional<Problem> write(const std::string& path,
                             const std::vector<telemetry::TextFile>& files) {
  const Folder folder(path);
  for (const auto& file : files)
    if (auto problem = folder.write(file.name, file.text, file.executable)) return problem;
  return folder.commit().problem;
}

ExitCode run_telemetry(const TelemetryOptions& options) {
  std::vector<telemetry::Watch> switches;
  Loaded loaded = load(
      options.intent, [&](const Intent& intent) { switches.resize(intent.switches.size()); },
      [&](std::size_t index, const SwitchIntent& /*device*/, const SwitchPlan& plan,
          std::vector<Problem>& /*problems*/) {
        if (const Vendor* const vendor = find_vendor(plan.os))
          switches[index] = telemetry::watch_of(plan, *vendor);
      });
  ExitCode outcome = outcome_of(loaded);
  std::vector<telemetry::TextFile> files;
  if (outcome == ExitCode::kOk) {
    files = files_of(loaded.intent->fabric.name, telemetry::joined(switches));
    if (auto problem = write(options.folder, files)) {
      loaded.problems.push_back(std::move(*problem));
      outcome = ExitCode::kFiles;
    }
  }
  if (options.intent.json) {
    std::vector<std::string> names;
    for (const auto& file : files)
      names.push_back(file.name);
    fmt::print("{}", files_json(names, loaded.problems));
    return outcome;
  }
  print_problems(loaded.problems, false);
  if (outcome == ExitCode::kOk) {
    fmt::print("{} files in {}/telemetry: begin with TELEMETRY.md\n", files.size(), options.folder);
  } else {
    fmt::print(stderr, "nothing was written\n");
  }
  return outcome;
}

}  // namespace

void add_telemetry(CLI::App& app, ExitCode& exit_code) {
  CLI::App* verb = app.add_subcommand(
      "telemetry",
      "Write what watches DLCP's queues: counters' names, Prometheus rules, a Grafana dashboard");
  auto options = std::make_shared<TelemetryOptions>();
  add_intent_options(*verb, options->intent);
  verb->add_option("-o,--output", options->folder, "The folder that `render` writes")
      ->capture_default_str();
  verb->callback([options, &exit_code] { exit_code = run_telemetry(*options); });
}

}  // namespace dlcp::fabric::cli
