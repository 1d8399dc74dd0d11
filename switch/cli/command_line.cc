#include "switch/cli/command_line.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "switch/cli/help.h"
#include "switch/cli/verbs.h"
#include "switch/cli/wrap.h"
#include "switch/model/intent_keys.h"

// CLI11's header takes five seconds to compile in each file that includes it: only this one and
// help.cc.
namespace dlcp::fabric::cli {
namespace {

// A verb with options that live as long as the parser.
template <class Options>
struct Verb {
  CLI::App* app;
  std::shared_ptr<Options> options = std::make_shared<Options>();
};

template <class Options>
Verb<Options> add_verb(CLI::App& app, ExitCode& exit_code, const char* name,
                       const char* description, ExitCode (*run)(const Options&)) {
  const Verb<Options> verb{app.add_subcommand(name, description)};
  verb.app->callback([options = verb.options, run, &exit_code] { exit_code = run(*options); });
  return verb;
}

void add_intent_options(CLI::App& verb, IntentOptions& options) {
  verb.add_option("INTENT", options.file, "Intent file (YAML); `dlcp-switch init` writes a sample")
      ->required();
  verb.add_option("--switch", options.only, "Only the switch of this name");
  verb.add_flag("--json", options.json, "One JSON object on standard output");
}

void add_folder(CLI::App& verb, std::string& folder, const char* help) {
  verb.add_option("-o,--output", folder, help)->capture_default_str();
}

void add_pace(CLI::App& verb, const char* name, unsigned& pace, unsigned least, unsigned most,
              const char* help) {
  verb.add_option(name, pace, help)->check(CLI::Range(least, most))->capture_default_str();
}

void add_init(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] =
      add_verb(app, exit_code, "init", "Write a commented sample of an intent file", run_init);
  verb->add_option("FILE", options->file, "Where to; `-`: standard output")->capture_default_str();
  verb->add_option(
      "--classes", options->classes,
      "Write a class file with DSCPs of RFC 2474's pools for local use (xxxx11, "
      "xxxx01), for dlcp.classes here and DLCP_CLASSES on the hosts; FILE, too, unless "
      "it is there");
}

void add_plan(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "plan",
      "Print queues, shares and depths of every switch, and what had to be merged", run_plan);
  add_intent_options(*verb, options->intent);
  verb->add_flag("--explain", options->explain, "Also where every number comes from");
}

void add_check(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "check",
      "Look for what a well-formed configuration would still do wrong; writes nothing", run_check);
  add_intent_options(*verb, options->intent);
  verb->add_flag("--strict", options->strict, "Exit 1 for warnings, too");
}

void add_render(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "render",
      "Write configuration, rollback, verification and a report for every switch", run_render);
  add_intent_options(*verb, options->intent);
  add_folder(*verb, options->folder, "Folder, one subfolder per switch");
  verb->add_flag("--unverified", options->unverified,
                 "Also write text that no grammar has checked; its first line says so");
}

void add_diff(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "diff",
      "Rows that would change against the imported configuration (exit 4 if any)", run_diff);
  add_intent_options(*verb, *options);
}

void add_verify(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "verify",
      "Commands that show DLCP at work; with their output, whether it is as planned", run_verify);
  add_intent_options(*verb, options->intent);
  verb->add_option("--captured", options->captured,
                   "File with what the commands printed on the switch, or JSON of Prometheus' "
                   "/api/v1/query or of a gNMI Get (exit 4 if not as planned)");
}

void add_trace(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "trace",
      "Follow each class from host to host: queue, colour and DSCP at every port", run_trace);
  add_intent_options(*verb, options->intent);
  constexpr const char* kEnd = "A name of `hosts`, SWITCH:PORT, or a switch (its first host port)";
  verb->add_option("--from", options->from, kEnd)->required();
  verb->add_option("--to", options->to, kEnd)->required();
  verb->add_option("--class", options->only_class, "Only this class (exit 1 if a class changes)");
}

void add_rollout(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] =
      add_verb(app, exit_code, "rollout",
               "Write the order of change as an Ansible inventory and playbooks; pushes nothing",
               run_rollout);
  add_intent_options(*verb, options->intent);
  add_folder(*verb, options->folder, "The folder that `render` writes");
  RolloutPace& pace = options->pace;
  add_pace(*verb, "--ports", pace.ports, 1, 512, "Ports of one switch that change at once");
  add_pace(*verb, "--serial", pace.leaves, 1, 1000,
           "Leaves that change at once, after the canaries");
  add_pace(*verb, "--canary-minutes", pace.canary_minutes, 0, 10000, "Under load, after a canary");
  add_pace(*verb, "--batch-minutes", pace.batch_minutes, 0, 10000, "Under load, after a batch");
}

void add_telemetry(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "telemetry",
      "Write what watches DLCP's queues: counters' names, Prometheus rules, a Grafana dashboard",
      run_telemetry);
  add_intent_options(*verb, options->intent);
  add_folder(*verb, options->folder, "The folder that `render` writes");
}

void add_tables(CLI::App& app, ExitCode& exit_code) {
  app.add_subcommand("keys", "Every key of an intent file")->callback([&exit_code] {
    exit_code = run_keys();
  });
  const auto [verb, options] =
      add_verb(app, exit_code, "targets", "What each kind of switch can express", run_targets);
  verb->add_flag("--json", options->json, "One JSON object on standard output");
  verb->add_flag("--features", options->features,
                 "Who has trimming, spraying, seeds and watchdogs");
}

// The verb that is most similar to the first word; empty if the word is a verb, or none is similar.
std::string unknown_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || *argv[1] == '-') return "";
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands(nullptr))
    names.push_back(verb->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return "";
  return nearest(argv[1], std::vector<std::string_view>(names.begin(), names.end()));
}

}  // namespace

ExitCode run_command_line(int argc, char** argv) {
  CLI::App app{
      "dlcp-switch: what switches have to do for DLCP, merged into what they do today. "
      "Begin with `dlcp-switch init`, look with `plan --explain` and `check`, then `render`."};
  app.name("dlcp-switch");
  app.formatter(std::make_shared<HelpFormatter>(output_width()));
  app.set_version_flag("--version", std::string("dlcp-switch ") + DLCP_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit: 0 done; 1 errors in intent, site or plan (nothing is written); 2 usage; "
      "3 text that no grammar has checked, without --unverified; 4 diff or verify found "
      "something; 5 a file cannot be read or written.");
  ExitCode exit_code = ExitCode::kOk;
  for (const auto add : {add_init, add_plan, add_check, add_render, add_diff, add_verify, add_trace,
                         add_rollout, add_telemetry, add_tables})
    add(app, exit_code);
  if (const std::string like = unknown_verb(app, argc, argv); !like.empty()) {
    fmt::print(stderr, "error: no verb '{}'\n  hint: did you mean '{}'?\n", argv[1], like);
    return ExitCode::kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCode::kOk : ExitCode::kUsage;
  }
  return exit_code;
}

}  // namespace dlcp::fabric::cli
