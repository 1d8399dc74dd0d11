// The command line as a whole: runs the parser, and says what is wrong with it in one line that
// names the word, what was probably meant, and where help is.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/exit_code.h"

namespace dlcp::cli {

// Parses and runs the verb. kUsage after an error, which is on stderr then; --help and --version
// are kOk.
ExitCode parse_and_run(CLI::App& app, int argc, char** argv, const ExitCode& outcome);

// "dlcp doctor: there is no option --per; did you mean --peer? (dlcp doctor --help)"
std::string explain(const CLI::App& app, const CLI::ParseError& error,
                    const std::vector<std::string>& words);

}  // namespace dlcp::cli
