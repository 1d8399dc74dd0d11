// The command line as a whole: adds the verbs, runs the parser, and reports an error in one line
// that names the wrong word, the probable intention, and how to get help.
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
// Adds a verb whose callback stores its result in the exit code.
using AddVerb = void (*)(CLI::App& app, ExitCode& exit_code);

// Runs the requested verb. kUsage after an error, which is printed to stderr; kOk for --help and
// --version; kTransport if the output cannot be written.
ExitCode run_program(const Program& program, std::span<const AddVerb> verbs, int argc, char** argv);

}  // namespace dlcp::cli
