// The command line as a whole: adds the verbs, runs the parser, and says what is wrong in one line
// that names the word, what was probably meant, and where help is.
#pragma once

#include <span>
#include <string>

#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace dlcp::cli {

struct Program {
  std::string name;
  std::string about;
  std::string version;
  std::string footer;  // of --help without a verb
};
// Adds a verb whose callback leaves its outcome in the exit code.
using AddVerb = void (*)(CLI::App& app, ExitCode& exit_code);

// Runs the verb that is asked for. kUsage after an error, which is on stderr then; --help and
// --version are kOk.
ExitCode run_program(const Program& program, std::span<const AddVerb> verbs, int argc, char** argv);

}  // namespace dlcp::cli
