// `dlcp-switch telemetry`: files for Prometheus, gnmic and Grafana that monitor the fabric's
// queues.
#include "switch/cli/output_folder/fabric_files.h"
#include "switch/cli/verbs/verbs.h"
#include "switch/telemetry/collect.h"
#include "switch/telemetry/dashboard.h"
#include "switch/telemetry/rules.h"

namespace dlcp::fabric::cli {
namespace {

std::vector<TextFile> files_of(const std::string& fabric,
                               const std::vector<telemetry::Watch>& watches) {
  auto files = telemetry::collection_files(fabric, watches);
  files.push_back({"rules.yml", telemetry::rules_text(fabric, watches)});
  files.push_back({"dashboard.json", telemetry::dashboard_text(fabric, watches)});
  for (auto& file : files)
    file.name = "telemetry/" + file.name;
  return files;
}

}  // namespace

ExitCode run_telemetry(const TelemetryOptions& options) {
  std::vector<telemetry::Watch> switches;
  Loaded loaded = load(
      options.intent, [&](const Intent& intent) { switches.resize(intent.switches.size()); },
      [&](std::size_t index, const SwitchIntent& /*device*/, const SwitchPlan& plan,
          std::vector<Problem>& /*problems*/) {
        if (const Vendor* const vendor = find_vendor(plan.os))
          switches[index] = telemetry::watch_of(plan, *vendor);
      });
  return write_fabric_files(
      std::move(loaded), options.intent, options.folder,
      [&](const Intent& intent) {
        return files_of(intent.fabric.name, telemetry::joined(switches));
      },
      "/telemetry: begin with TELEMETRY.md");
}

}  // namespace dlcp::fabric::cli
