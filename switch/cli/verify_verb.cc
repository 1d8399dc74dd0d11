// `dlcp-switch verify`: prints commands that show DLCP's queues on a switch; given their output,
// checks that each queue drops and marks as planned.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "switch/cli/output.h"
#include "switch/cli/verbs.h"
#include "switch/telemetry/capture.h"
#include "switch/vendors/counters.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::cli {
namespace {

ExitCode print_findings(const std::vector<Finding>& findings) {
  constexpr const char* kSigns[] = {"ok   ", "WRONG", "?    "};
  for (const Finding& finding : findings) {
    fmt::print("{} {}{}{}\n", kSigns[static_cast<int>(finding.verdict)],
               finding.port.empty() ? "" : finding.port + " ",
               finding.queue < 0 ? "" : fmt::format("queue {}: ", finding.queue), finding.what);
  }
  return ExitCode::kOk;
}

// Reads JSON of Prometheus or gNMI if the target's counters have names there, else the output of
// show commands.
Checked<std::vector<Finding>> judge(const SwitchPlan& plan, const Vendor& vendor,
                                    const NamedText& captured) {
  const auto* const names = telemetry::find_names(plan.os);
  if (names == nullptr || !telemetry::is_json(captured.text)) return vendor.verify(plan, captured);
  const auto label = [&](int queue) {
    return names->queues_by_name ? vendor.queue_name(plan, queue) : std::to_string(queue);
  };
  // JSON may also be the output of a show command.
  if (auto shown = vendor.verify(plan, captured); shown.value) return shown;
  auto table = telemetry::read_capture({plan, *names, label}, captured);
  Checked<std::vector<Finding>> judged;
  judged.problems = std::move(table.problems);
  if (table.value) judged.value = judge_counters(plan, *table.value);
  return judged;
}

Verified verify_one(const SwitchPlan& plan, const Vendor& vendor, const std::string& captured,
                    std::vector<Problem>& problems) {
  Verified verified{plan.name, vendor.verify_commands(plan), {}};
  if (captured.empty()) return verified;
  auto text = read_file(captured);
  std::move(text.problems.begin(), text.problems.end(), std::back_inserter(problems));
  if (!text.value) return verified;
  auto judged = judge(plan, vendor, {captured, *text.value});
  std::move(judged.problems.begin(), judged.problems.end(), std::back_inserter(problems));
  if (judged.value) verified.findings = std::move(*judged.value);
  return verified;
}

}  // namespace

ExitCode run_verify(const VerifyOptions& options) {
  std::vector<Verified> switches;
  const Loaded loaded = load(
      options.intent, [&](const Intent& intent) { switches.resize(intent.switches.size()); },
      [&](std::size_t index, const SwitchIntent& /*device*/, const SwitchPlan& plan,
          std::vector<Problem>& problems) {
        const Vendor* const vendor = find_vendor(plan.os);
        const bool one = switches.size() == 1;
        if (vendor == nullptr) return;
        switches[index] = verify_one(plan, *vendor, one ? options.captured : "", problems);
      });
  if (!options.captured.empty() && switches.size() > 1) {
    fmt::print(stderr, "error: captured output is of one switch: add --switch NAME\n");
    return ExitCode::kUsage;
  }
  if (has_errors(loaded.problems)) switches.clear();
  bool wrong = false;
  for (const Verified& each : switches) {
    wrong = wrong || std::any_of(
                         each.findings.begin(), each.findings.end(),
                         [](const Finding& f) { return f.verdict == Verdict::kWrong; });
  }
  if (options.intent.json) {
    fmt::print("{}", verified_json(switches, loaded.problems));
  } else {
    print_problems(loaded.problems, false);
    for (const Verified& each : switches) {
      fmt::print("# {}\n", each.name);
      if (!options.captured.empty()) {
        print_findings(each.findings);
        continue;
      }
      for (const auto& [command, shows] : each.commands)
        fmt::print("{}    # {}\n", command, shows);
    }
  }
  const ExitCode outcome = outcome_of(loaded);
  return outcome == ExitCode::kOk && wrong ? ExitCode::kDiffers : outcome;
}

}  // namespace dlcp::fabric::cli
