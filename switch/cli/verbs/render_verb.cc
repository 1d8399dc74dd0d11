// `dlcp-switch render`: for each switch a folder with configuration, rollback, verification and
// REPORT.md. Either all of it is written, or nothing.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>

#include "switch/cli/output_folder/folder.h"
#include "switch/cli/report/message_list.h"
#include "switch/cli/report/output.h"
#include "switch/cli/report/report.h"
#include "switch/cli/verbs/verbs.h"

namespace dlcp::fabric::cli {
namespace {

constexpr std::size_t kProgressFrom = 200;

// The step of each switch, for its report.
std::map<std::string, std::string> steps_by_switch(const std::vector<CanaryStep>& steps) {
  std::map<std::string, std::string> by_switch;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const std::string& name : steps[i].switches) {
      by_switch[name] =
          fmt::format("Step {} of {}: {} (FABRIC.md).", i + 1, steps.size(), steps[i].title);
    }
  }
  return by_switch;
}

// The findings of the checks on this switch, for its report; their text begins with its name.
std::vector<Problem> findings_of(const std::string& name, const std::vector<Problem>& problems) {
  std::vector<Problem> findings;
  for (const Problem& problem : problems) {
    if (problem.rule.empty() || !problem.what.starts_with(name + ": ")) continue;
    findings.push_back(problem);
    findings.back().what.erase(0, name.size() + 2);
  }
  return findings;
}

// Renders switches after planning, in several threads; no file is visible before commit().
class Renderer {
 public:
  explicit Renderer(const RenderOptions& options) : options_(options), folder_(options.folder) {}

  // The steps are those of the whole fabric, also if one switch is rendered.
  void plan_steps(const Intent& whole) {
    steps_ = canary_steps(whole);
    step_of_ = steps_by_switch(steps_);
  }

  void begin(const Intent& intent) { switches_.resize(intent.switches.size()); }

  void render(std::size_t index, const SwitchPlan& plan, std::vector<Problem>& problems) {
    const Vendor* const vendor = find_vendor(plan.os);
    if (vendor == nullptr) {
      Problem problem;
      problem.file = options_.intent.file;
      problem.what = fmt::format("no renderer for the operating system '{}' (switch '{}')", plan.os,
                                 plan.name);
      problems.push_back(std::move(problem));
      return;
    }
    Rendering rendering = vendor->render(plan);
    std::move(rendering.problems.begin(), rendering.problems.end(), std::back_inserter(problems));
    const bool checked =
        std::all_of(rendering.files.begin(), rendering.files.end(), [](const OutputFile& file) {
          return file.grammar_checked || file.kind == FileKind::kVerify;
        });
    if (!checked && !options_.unverified) ++refused_;
    if (refused_ > 0 || has_errors(problems)) return;
    write(plan, *vendor, rendering, problems);
    if (options_.intent.json) {
      for (OutputFile& file : rendering.files)
        file.text.clear();
      switches_[index] = {plan.name, std::move(rendering)};
    }
    progress();
  }

  ExitCode finish(Loaded& loaded) {
    if (unwritten_) return ExitCode::kFiles;
    if (outcome_of(loaded) != ExitCode::kOk) return outcome_of(loaded);
    if (refused_ > 0) return refuse(loaded);
    std::optional<Problem> problem;
    if (options_.intent.only.empty())
      problem = folder_.write(
          "FABRIC.md", fabric_text(*loaded.intent, steps_, findings_of("fabric", loaded.problems)),
          false);
    if (!problem) {
      outcome_ = folder_.commit();
      problem = outcome_.problem;
    }
    if (problem) loaded.problems.push_back(*problem);
    return problem ? ExitCode::kFiles : ExitCode::kOk;
  }

  const std::vector<Rendered>& switches() const { return switches_; }

  // Prints which former folders were kept or are stale.
  void print_previous_folders() const {
    std::vector<Message> messages;
    for (const std::string& kept : outcome_.kept)
      messages.push_back({"kept the former folder " + kept, "kept",
                          "its rollback restores the state before that folder was applied", ""});
    for (const std::string& stale : outcome_.stale)
      if (options_.intent.only.empty())
        messages.push_back({"stale: the intent has no switch " + stale, "stale",
                            "its folder is left as it is", ""});
    fmt::print("{}", message_list(messages, options_.intent.all));
  }

 private:
  void write(const SwitchPlan& plan, const Vendor& vendor, const Rendering& rendering,
             std::vector<Problem>& problems) {
    const std::string report =
        report_text(plan, rendering, vendor.verify_commands(plan), findings_of(plan.name, problems),
                    step_of_.at(plan.name));
    auto problem = folder_.write(plan.name + "/REPORT.md", report, false);
    for (const OutputFile& file : rendering.files) {
      if (problem) break;
      problem = folder_.write(plan.name + '/' + file.path, file.text, file.executable);
    }
    if (!problem) return;
    problems.push_back(*problem);
    unwritten_ = true;
  }

  ExitCode refuse(Loaded& loaded) const {
    Problem problem;
    problem.file = options_.intent.file;
    problem.what = "no grammar has checked the text of some switches";
    problem.hint =
        "add --unverified, and test the output on a virtual image first: scripts/switch-lab";
    loaded.problems.push_back(std::move(problem));
    return ExitCode::kRefused;
  }

  void progress() {
    const std::size_t done = ++done_;
    if (switches_.size() < kProgressFrom || done % 100 != 0 || isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr, "\r{} of {} switches{}", done, switches_.size(),
               done + 100 > switches_.size() ? "\n" : "");
  }

  const RenderOptions& options_;
  const Folder folder_;
  Folder::Outcome outcome_;
  std::vector<CanaryStep> steps_;
  std::map<std::string, std::string> step_of_;
  std::vector<Rendered> switches_;  // filled only for --json
  std::atomic<std::size_t> done_ = 0, refused_ = 0;
  std::atomic<bool> unwritten_ = false;
};

}  // namespace

ExitCode run_render(const RenderOptions& options) {
  Renderer renderer(options);
  Loaded loaded = load(
      options.intent, [&renderer](const Intent& intent) { renderer.begin(intent); },
      [&renderer](std::size_t index, const SwitchIntent&, const SwitchPlan& plan,
                  std::vector<Problem>& problems) { renderer.render(index, plan, problems); },
      [&renderer](const Intent& whole) { renderer.plan_steps(whole); });
  const ExitCode outcome = renderer.finish(loaded);
  if (options.intent.json) {
    const bool done = outcome == ExitCode::kOk;
    fmt::print("{}",
               changes_json(done ? renderer.switches() : std::vector<Rendered>(), loaded.problems));
    return outcome;
  }
  print_problems(loaded.problems, {.all = options.intent.all});
  if (outcome == ExitCode::kOk) {
    renderer.print_previous_folders();
    fmt::print("{} in {}: begin with {}\n", counted(loaded.plans.size(), "switch"), options.folder,
               options.intent.only.empty() ? "FABRIC.md" : options.intent.only + "/REPORT.md");
  } else {
    fmt::print(stderr, "nothing was written\n");
  }
  return outcome;
}

}  // namespace dlcp::fabric::cli
