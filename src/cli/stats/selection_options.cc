#include "cli/stats/selection_options.h"

namespace dlcp::cli {

std::vector<CLI::Option*> add_selection(CLI::App& verb, Selection& selection) {
  return {verb.add_option("--pid", selection.pids, "These processes only"),
          verb.add_option("--user", selection.user, "This user's processes only")};
}

}  // namespace dlcp::cli
