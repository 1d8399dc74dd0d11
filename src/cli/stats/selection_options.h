// The options that select processes for a verb.
#pragma once

#include <vector>

#include "cli/command_line/options/options.h"
#include "cli/stats/pages/pages.h"

namespace dlcp::cli {

// Adds --pid and --user; `selection` must outlive the verb. Returns the added options.
std::vector<CLI::Option*> add_selection(CLI::App& verb, Selection& selection);

}  // namespace dlcp::cli
