#include "cli/stats/selection_options.h"

#include <cstdint>

namespace dlcp::cli {

std::vector<CLI::Option*> add_selection(CLI::App& verb, Selection& selection) {
  return {add_numbers(verb, "--pid", selection.pids, {1, INT32_MAX}, "Only these processes"),
          add_text(verb, "--user", selection.user, "Only processes of this user")};
}

}  // namespace dlcp::cli
