// From an intent file on disk to plans: reads what it names, imports through the vendors, plans
// every switch, runs the checks. All problems together, none printed.
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
};

struct Loaded {
  std::optional<Intent> intent;
  std::vector<SwitchPlan> plans;  // of the switches without errors, in the file's order
  std::vector<Problem> problems;
  bool unreadable = false;  // the intent, or a file that it names, could not be read
};

// What a verb does with each switch while its running configuration is in memory, in several
// threads at once. `index` is the switch's place in the intent; the problems are that switch's.
using Visit = std::function<void(std::size_t index, const SwitchIntent& device,
                                 const SwitchPlan& plan, std::vector<Problem>& problems)>;

// `begin` is called once, with the intent, before any visit. Plans that come back have no
// documents.
Loaded load(const IntentOptions& options, const std::function<void(const Intent&)>& begin = {},
            const Visit& visit = {});

Checked<std::string> read_file(const std::string& path);

// A Visit that keeps of a rendering what speaks against it.
void render_for_problems(std::size_t index, const SwitchIntent& device, const SwitchPlan& plan,
                         std::vector<Problem>& problems);

// Exit code of problems that end a verb.
ExitCode outcome_of(const Loaded& loaded);

}  // namespace dlcp::fabric::cli
