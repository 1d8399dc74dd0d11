// `dlcp-switch render`: per switch a folder with configuration, rollback, verification and
// REPORT.md. Written whole or not at all.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "switch/cli/folder.h"
#include "switch/cli/load.h"
#include "switch/cli/output.h"
#include "switch/cli/report.h"

namespace dlcp::fabric::cli {
namespace {

struct RenderOptions {
  IntentOptions intent;
  std::string folder = "switches";
  bool unverified = false;
};

constexpr std::size_t kProgressFrom = 200;

// Which step each switch belongs to, as its report says it.
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

class Renderer {
 public:
  Renderer(const RenderOptions& options, Loaded& loaded)
      : options_(options), loaded_(loaded), folder_(options.folder) {}

  ExitCode run() {
    const auto steps = canary_steps(loaded_.plans);
    const auto step_of = steps_by_switch(steps);
    index_findings();
    for (const SwitchPlan& plan : loaded_.plans) {
      if (!render(plan, step_of.at(plan.name))) return outcome_;
      progress();
    }
    if (has_errors(loaded_.problems)) return ExitCode::kWrong;
    if (refused_ > 0) return refuse();
    if (!folder_.write("FABRIC.md", fabric_text(*loaded_.intent, steps, findings_["fabric"]),
                       false) ||
        !folder_.commit()) {
      return fail();
    }
    return ExitCode::kOk;
  }

  std::vector<Rendered>& rendered() { return rendered_; }

 private:
  void index_findings() {
    for (const Problem& problem : loaded_.problems) {
      const auto colon = problem.what.find(": ");
      if (problem.rule.empty() || colon == std::string::npos) continue;
      Problem bare = problem;
      bare.what.erase(0, colon + 2);
      findings_[problem.what.substr(0, colon)].push_back(std::move(bare));
    }
  }

  bool render(const SwitchPlan& plan, const std::string& step) {
    const Vendor* const vendor = find_vendor(plan.os);
    if (vendor == nullptr) {
      Problem problem;
      problem.file = options_.intent.file;
      problem.what = fmt::format("nothing renders '{}' (switch '{}')", plan.os, plan.name);
      loaded_.problems.push_back(std::move(problem));
      return true;
    }
    Rendering rendering = vendor->render(plan);
    std::move(rendering.problems.begin(), rendering.problems.end(),
              std::back_inserter(loaded_.problems));
    const bool checked =
        std::all_of(rendering.files.begin(), rendering.files.end(), [](const OutputFile& file) {
          return file.grammar_checked || file.kind == FileKind::kVerify;
        });
    if (!checked && !options_.unverified) {
      if (refused_++ == 0) refused_first_ = fmt::format("{} ({})", plan.name, plan.os);
      return true;
    }
    if (has_errors(loaded_.problems)) return true;
    if (!write(plan, *vendor, rendering, step)) {
      outcome_ = fail();
      return false;
    }
    if (options_.intent.json) rendered_.push_back({plan.name, std::move(rendering)});
    return true;
  }

  bool write(const SwitchPlan& plan, const Vendor& vendor, const Rendering& rendering,
             const std::string& step) {
    for (const OutputFile& file : rendering.files) {
      if (!folder_.write(plan.name + '/' + file.path, file.text, file.executable)) return false;
    }
    const std::string report =
        report_text(plan, rendering, vendor.verify_commands(plan), findings_[plan.name], step);
    return folder_.write(plan.name + "/REPORT.md", report, false);
  }

  ExitCode refuse() {
    Problem problem;
    problem.file = options_.intent.file;
    problem.what = fmt::format("{} switch{} would get text that no grammar has checked, first {}",
                               refused_, refused_ == 1 ? "" : "es", refused_first_);
    problem.hint = "add --unverified, and try it on a virtual image first: scripts/switch-lab";
    loaded_.problems.push_back(std::move(problem));
    return ExitCode::kRefused;
  }

  ExitCode fail() {
    loaded_.problems.push_back(folder_.problem());
    return ExitCode::kFiles;
  }

  void progress() {
    ++done_;
    if (loaded_.plans.size() < kProgressFrom || done_ % 100 != 0 || isatty(STDERR_FILENO) == 0)
      return;
    fmt::print(stderr, "\r{} of {} switches", done_, loaded_.plans.size());
    if (done_ + 100 > loaded_.plans.size()) fmt::print(stderr, "\n");
  }

  const RenderOptions& options_;
  Loaded& loaded_;
  Folder folder_;
  std::map<std::string, std::vector<Problem>> findings_;
  std::vector<Rendered> rendered_;  // for --json
  std::size_t done_ = 0, refused_ = 0;
  std::string refused_first_;
  ExitCode outcome_ = ExitCode::kOk;
};

ExitCode run_render(const RenderOptions& options) {
  Loaded loaded = load(options.intent);
  ExitCode outcome = outcome_of(loaded);
  std::vector<Rendered> rendered;
  if (outcome == ExitCode::kOk) {
    Renderer renderer(options, loaded);
    outcome = renderer.run();
    rendered = std::move(renderer.rendered());
  }
  if (options.intent.json) {
    fmt::print("{}", changes_json(rendered, loaded.problems));
    return outcome;
  }
  print_problems(loaded.problems, false);
  if (outcome == ExitCode::kOk) {
    fmt::print("{} switches in {}: begin with FABRIC.md\n", loaded.plans.size(), options.folder);
  } else {
    fmt::print(stderr, "nothing was written\n");
  }
  return outcome;
}

}  // namespace

void add_render(CLI::App& app, ExitCode& exit_code) {
  CLI::App* verb = app.add_subcommand(
      "render", "Write configuration, rollback, verification and a report for every switch");
  auto options = std::make_shared<RenderOptions>();
  add_intent_options(*verb, options->intent);
  verb->add_option("-o,--output", options->folder, "Folder, one subfolder per switch")
      ->capture_default_str();
  verb->add_flag("--unverified", options->unverified,
                 "Also write text that no grammar has checked; its first line says so");
  verb->callback([options, &exit_code] { exit_code = run_render(*options); });
}

}  // namespace dlcp::fabric::cli
