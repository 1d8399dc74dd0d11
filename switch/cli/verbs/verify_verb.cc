// `dlcp-switch verify`: prints commands that show DLCP's queues on a switch; given their output,
// checks that each queue drops and marks as planned.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "switch/cli/report/message_list.h"
#include "switch/cli/report/output.h"
#include "switch/cli/verbs/verbs.h"
#include "switch/telemetry/capture/capture.h"
#include "switch/vendors/counters/counters.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::cli {
namespace {

void print_findings(const std::vector<Finding>& findings, bool all) {
  constexpr const char* kSigns[] = {"ok   ", "WRONG", "?    "};
  std::vector<Message> messages;
  for (const Finding& finding : findings) {
    const std::string queue = finding.queue < 0 ? "" : fmt::format("queue {}", finding.queue);
    const std::string place =
        finding.port + (finding.port.empty() || queue.empty() ? "" : " ") + queue;
    const char* const sign = kSigns[static_cast<int>(finding.verdict)];
    messages.push_back(
        {fmt::format("{} {}{}{}{}", sign, finding.port, finding.port.empty() ? "" : " ",
                     queue.empty() ? "" : queue + ": ", finding.what),
         sign + kind_of(finding.what), finding.cause, place});
  }
  fmt::print("{}", message_list(messages, all));
}

// Switches with equal commands are printed together.
void print_commands(const std::vector<Verified>& switches, bool all) {
  std::vector<NamedReport> reports;
  for (const Verified& each : switches) {
    std::string text;
    for (const auto& [command, shows] : each.commands)
      text += fmt::format("{}    # {}\n", command, shows);
    reports.push_back({each.name, std::move(text)});
  }
  for (const SharedReport& report : joined_reports(reports))
    fmt::print("# {}\n{}", first_names(report.names, all), report.text);
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

// `captured`: null if there is no output to judge.
Verified verify_one(const SwitchPlan& plan, const Vendor& vendor, const NamedText* captured,
                    std::vector<Problem>& problems) {
  Verified verified{plan.name, vendor.verify_commands(plan), {}};
  if (captured == nullptr) return verified;
  auto judged = judge(plan, vendor, *captured);
  std::move(judged.problems.begin(), judged.problems.end(), std::back_inserter(problems));
  if (judged.value) verified.findings = std::move(*judged.value);
  return verified;
}

ExitCode outcome_of(const std::vector<Verified>& switches) {
  ExitCode outcome = ExitCode::kOk;
  for (const Verified& each : switches) {
    const auto has = [&each](Verdict verdict, bool of_site) {
      return std::any_of(each.findings.begin(), each.findings.end(), [&](const Finding& finding) {
        return finding.verdict == verdict && finding.of_site == of_site;
      });
    };
    if (has(Verdict::kWrong, false) || has(Verdict::kWrong, true)) return ExitCode::kDiffers;
    if (has(Verdict::kNotShown, false) && !has(Verdict::kAsPlanned, false))
      outcome = ExitCode::kNotShown;
  }
  return outcome;
}

}  // namespace

ExitCode run_verify(const VerifyOptions& options) {
  std::vector<Verified> switches;
  NamedText captured{options.captured, ""};
  if (!options.captured.empty()) {
    auto text = read_file(options.captured);
    if (!text.value) {
      if (options.intent.json)
        fmt::print("{}", verified_json({}, text.problems));
      else
        print_problems(text.problems, {});
      return ExitCode::kFiles;
    }
    captured.text = std::move(*text.value);
  }
  const Loaded loaded = load(
      options.intent, [&](const Intent& intent) { switches.resize(intent.switches.size()); },
      [&](std::size_t index, const SwitchIntent& /*device*/, const SwitchPlan& plan,
          std::vector<Problem>& problems) {
        const Vendor* const vendor = find_vendor(plan.os);
        const bool judges = switches.size() == 1 && !options.captured.empty();
        if (vendor == nullptr) return;
        switches[index] = verify_one(plan, *vendor, judges ? &captured : nullptr, problems);
      });
  if (!options.captured.empty() && switches.size() > 1) {
    fmt::print(stderr, "error: captured output belongs to one switch: add --switch NAME\n");
    return ExitCode::kUsage;
  }
  if (has_errors(loaded.problems)) switches.clear();
  if (options.intent.json) {
    fmt::print("{}", verified_json(switches, loaded.problems));
  } else {
    print_problems(loaded.problems, {.all = options.intent.all});
    if (options.captured.empty()) print_commands(switches, options.intent.all);
    for (const Verified& each : switches) {
      if (options.captured.empty()) break;
      fmt::print("# {}\n", each.name);
      print_findings(each.findings, options.intent.all);
    }
  }
  const ExitCode outcome = outcome_of(loaded);
  return outcome == ExitCode::kOk ? outcome_of(switches) : outcome;
}

}  // namespace dlcp::fabric::cli
