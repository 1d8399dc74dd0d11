#include "cli/command_line/options/parse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/command_line/options/help.h"
#include "util/system/system_text.h"
#include "util/text/similar.h"

namespace dlcp::cli {
namespace {

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view similar = most_similar(word, views);
  return similar.empty() ? "" : fmt::format("; did you mean {}?", similar);
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

// The word that matches no verb or option; a word that looks like an option has precedence over its
// value.
std::string unexpected_word(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  const auto option =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with("-"); });
  return words.empty() ? "" : option != words.end() ? *option : words.front();
}

// Explains an option without a value, or with too many. CLI11's text is "--size: 1 required TEXT
// missing", or "--size: At Most 1 required but received 2".
std::string mismatch(const std::string& text) {
  constexpr std::string_view kReceived = " received ";
  const std::string option = text.substr(0, text.find(':'));
  if (text.ends_with(" missing")) return option + " needs a value";
  const std::size_t at = text.rfind(kReceived);
  return at == text.npos ? text
                         : fmt::format("{} is given {} times; give it once", option,
                                       text.substr(at + kReceived.size()));
}

std::string explain(const CLI::App& app, const CLI::ParseError& error,
                    const std::vector<std::string>& words) {
  const auto parsed = app.get_subcommands();
  const CLI::App* verb = parsed.empty() ? nullptr : parsed.front();
  const std::string program =
      verb == nullptr ? app.get_name() : app.get_name() + " " + verb->get_name();
  std::string what = error.what();
  if (verb == nullptr) {
    const auto names = verbs_of(app);
    if (words.empty()) {
      what = "a command is missing";
    } else if (words.front().starts_with("-")) {
      what = fmt::format("there is no option {}{}", words.front(),
                         did_you_mean(words.front(), options_of(app)));
    } else {
      what = fmt::format("there is no command '{}'{}", words.front(),
                         did_you_mean(words.front(), names));
    }
  } else if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    const std::string word = unexpected_word(app);
    const std::string name = word.substr(0, word.find('='));
    what = word.starts_with("-")
               ? fmt::format("there is no option {}{}", name, did_you_mean(name, options_of(*verb)))
               : fmt::format("unexpected argument '{}'", word);
  } else if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) {
    what = mismatch(what);
  }
  return fmt::format("{}: {} ({} --help)", program, what, program);
}

// fmt::print() throws if nothing can be written.
void complain(const std::string& line) {
  std::fputs(line.c_str(), stderr);
}

// A file or pipe that takes no output is noticed only when the buffers are written.
ExitCode finish_output(const Program& program, ExitCode outcome) {
  std::cout.flush();
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (written) return outcome;
  complain(fmt::format("{}: cannot write the output: {}\n", program.name, system_text(errno)));
  return outcome == ExitCode::kOk ? ExitCode::kTransport : outcome;
}

}  // namespace

ExitCode run_program(const Program& program, std::span<const AddVerb> verbs, int argc,
                     char** argv) {
  CLI::App app{program.about, program.name};
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", program.name + " " + program.version);
  app.require_subcommand(1);
  app.footer(program.footer);
  ExitCode outcome = ExitCode::kOk;
  for (const AddVerb add : verbs)
    add(app, outcome);
  try {
    app.parse(argc, argv);
    return finish_output(program, outcome);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);  // prints the requested text
      return finish_output(program, ExitCode::kOk);
    }
    const std::vector<std::string> words(argv + 1, argv + argc);
    complain(explain(app, error, words) + '\n');
    return ExitCode::kUsage;
  } catch (const std::exception& error) {  // from fmt::print() if the output cannot be written
    complain(fmt::format("{}: {}\n", program.name, error.what()));
    return ExitCode::kTransport;
  }
}

}  // namespace dlcp::cli
