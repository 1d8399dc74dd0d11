#include "switch/cli/command_line/command_line.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "switch/cli/command_line/help.h"
#include "switch/cli/command_line/wrap.h"
#include "switch/cli/verbs/verbs.h"
#include "switch/model/intent_file/intent_keys.h"

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

// Of verbs whose output is about the whole fabric.
void add_fabric_options(CLI::App& verb, IntentOptions& options) {
  verb.add_option("INTENT", options.file, "Intent file (YAML); `dlcp-switch init` writes a sample")
      ->required();
  verb.add_flag("--json", options.json, "Print one JSON object on standard output");
  verb.add_flag("--all", options.all, "Print every message, not only the first ten of each kind");
}

void add_intent_options(CLI::App& verb, IntentOptions& options) {
  add_fabric_options(verb, options);
  verb.add_option("--switch", options.only, "Process only the switch with this name");
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
  verb->add_option("FILE", options->file, "File to write; `-`: standard output")
      ->capture_default_str();
  verb->add_option(
      "--classes", options->classes,
      "Also write a class file with DSCPs from RFC 2474's pools for local use (xxxx11, xxxx01), "
      "for dlcp.classes in the intent and DLCP_CLASSES on the hosts. An existing FILE is kept");
}

void add_plan(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "plan",
      "Print queues, shares and depths of every switch, and the classes that had to be merged",
      run_plan);
  add_intent_options(*verb, options->intent);
  verb->add_flag("--explain", options->explain, "Also print the origin of every number");
}

void add_check(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(app, exit_code, "check",
                                        "Check the intent and the plan for mistakes that a "
                                        "well-formed configuration can contain; writes nothing",
                                        run_check);
  add_intent_options(*verb, options->intent);
  verb->add_flag("--strict", options->strict, "Exit with 1 if there are warnings");
}

void add_render(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "render",
      "Write configuration, rollback, verification and a report for every switch", run_render);
  add_intent_options(*verb, options->intent);
  add_folder(*verb, options->folder, "Output folder, with a subfolder for each switch");
  verb->add_flag("--unverified", options->unverified,
                 "Also write text that no grammar has checked, with a notice in its first line");
}

void add_diff(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "diff",
      "Print the rows that would change in the imported configuration (exit 4 if there are any)",
      run_diff);
  add_intent_options(*verb, *options);
}

void add_verify(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "verify",
      "Print commands that show DLCP's queues; given their output, check it against the plan",
      run_verify);
  add_intent_options(*verb, options->intent);
  verb->add_option("--captured", options->captured,
                   "File with the output of these commands, or JSON from Prometheus' /api/v1/query "
                   "or a gNMI Get (exit 4 if it does not match the plan)");
}

void add_trace(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "trace",
      "Trace each class from host to host: print queue, colour and DSCP at every port", run_trace);
  add_intent_options(*verb, options->intent);
  constexpr const char* kEnd =
      "A name from `hosts`, SWITCH:PORT, or a switch (its first host port)";
  verb->add_option("--from", options->from, kEnd)->required();
  verb->add_option("--to", options->to, kEnd)->required();
  verb->add_option("--class", options->only_class,
                   "Trace only this class (exit 1 if a traced class changes)");
}

void add_rollout(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(
      app, exit_code, "rollout",
      "Write an Ansible inventory and playbooks that change the switches in order; runs nothing",
      run_rollout);
  add_fabric_options(*verb, options->intent);
  add_folder(*verb, options->folder, "The folder that `render` has written");
  RolloutPace& pace = options->pace;
  add_pace(*verb, "--ports", pace.ports, 1, 512, "Ports of one switch to change at the same time");
  add_pace(*verb, "--serial", pace.leaves, 1, 1000,
           "Leaves to change at the same time, after the canaries");
  add_pace(*verb, "--canary-minutes", pace.canary_minutes, 0, 10000,
           "Time under load after each canary");
  add_pace(*verb, "--batch-minutes", pace.batch_minutes, 0, 10000,
           "Time under load after each batch");
}

void add_telemetry(CLI::App& app, ExitCode& exit_code) {
  const auto [verb, options] = add_verb(app, exit_code, "telemetry",
                                        "Write files that monitor DLCP's queues: names of "
                                        "counters, Prometheus rules, a Grafana dashboard",
                                        run_telemetry);
  add_fabric_options(*verb, options->intent);
  add_folder(*verb, options->folder, "The folder that `render` has written");
}

void add_tables(CLI::App& app, ExitCode& exit_code) {
  app.add_subcommand("keys", "Print every key of an intent file")->callback([&exit_code] {
    exit_code = run_keys();
  });
  const auto [verb, options] = add_verb(app, exit_code, "targets",
                                        "Print what each kind of switch can express", run_targets);
  verb->add_flag("--json", options->json, "Print one JSON object on standard output");
  verb->add_flag("--features", options->features,
                 "Print which systems have trimming, spraying, hash seeds and watchdogs");
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
      "dlcp-switch: generates switch configuration for DLCP and merges it into the present "
      "configuration. Begin with `dlcp-switch init`, review with `plan --explain` and `check`, "
      "then `render`."};
  app.name("dlcp-switch");
  app.formatter(std::make_shared<HelpFormatter>(output_width()));
  app.set_version_flag("--version", std::string("dlcp-switch ") + DLCP_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 1 errors in the intent, the site or the plan (nothing is written); 2 "
      "usage; 3 no grammar has checked the text and --unverified was not given; 4 diff or verify "
      "found a difference; 5 a file cannot be read or written; 6 the output given to verify "
      "shows nothing of the plan.");
  ExitCode exit_code = ExitCode::kOk;
  for (const auto add : {add_init, add_plan, add_check, add_render, add_diff, add_verify, add_trace,
                         add_rollout, add_telemetry, add_tables})
    add(app, exit_code);
  if (const std::string like = unknown_verb(app, argc, argv); !like.empty()) {
    fmt::print(stderr, "error: unknown verb '{}'\n  hint: did you mean '{}'?\n", argv[1], like);
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
