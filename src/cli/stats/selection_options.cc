#include "cli/stats/selection_options.h"

namespace dlcp::cli {

std::vector<CLI::Option*> add_selection(CLI::App& verb, Selection& selection) {
  return {add_numbers(verb, "--pid", selection.pids, "Only these processes"),
          add_text(verb, "--user", selection.user, "Only processes of this user")};
}

}  // namespace dlcp::cli
