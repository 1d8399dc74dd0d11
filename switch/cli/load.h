// From an intent file on disk to plans: reads the files that the intent names, imports through the
// vendors, plans every switch, runs the checks. Returns all problems together and prints none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "switch/check/lint.h"
#include "switch/cli/exit_code.h"
#include "switch/model/intent.h"
#include "switch/plan/plan.h"

namespace dlcp::fabric::cli {

struct IntentOptions {
  std::string file;
  std::string only;  // one switch; empty: all
  bool json = false;
  bool all = false;  // print every message, not only the first ones of each kind
};

struct Loaded {
  std::optional<Intent> intent;
  std::vector<SwitchPlan> plans;  // of the switches without errors, in the file's order
  std::vector<Problem> problems;
  bool unreadable = false;  // the intent, or a file that it names, could not be read
};

// A verb's work on each switch while its running configuration is in memory, called by several
// threads at once. `index` is the switch's position in the intent; the problems are that switch's.
using Visit = std::function<void(std::size_t index, const SwitchIntent& device,
                                 const SwitchPlan& plan, std::vector<Problem>& problems)>;

// `whole` is called once, with the intent of the whole fabric; then `begin`, with the intent of the
// switches that are processed, before any visit. The returned plans have no documents.
Loaded load(const IntentOptions& options, const std::function<void(const Intent&)>& begin = {},
            const Visit& visit = {}, const std::function<void(const Intent&)>& whole = {});

Checked<std::string> read_file(const std::string& path);

// A Visit that renders and keeps only the problems of the rendering.
void render_for_problems(std::size_t index, const SwitchIntent& device, const SwitchPlan& plan,
                         std::vector<Problem>& problems);

// Exit code of problems that end a verb.
ExitCode outcome_of(const Loaded& loaded);

}  // namespace dlcp::fabric::cli
