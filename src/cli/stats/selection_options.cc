#include "cli/stats/selection_options.h"

namespace dlcp::cli {

std::vector<CLI::Option*> add_selection(CLI::App& verb, Selection& selection) {
  return {add_numbers(verb, "--pid", selection.pids, "These processes only"),
          add_text(verb, "--user", selection.user, "This user's processes only")};
}

}  // namespace dlcp::cli
