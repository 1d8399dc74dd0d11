// Several plugins in the same processes. They transfer one after the other, each for a fraction of
// a second, many times. A shared machine may become slower or faster by half within seconds. Such a
// change affects the turns of all plugins, so the ratio of two speeds varies less than each speed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/bench/rank/rank_plugin.h"
#include "cli/bench/report.h"

namespace dlcp::cli {

// A rank's part: `c.turns` rounds, in each of which every plugin runs once. Every second round has
// the opposite order. Adds the results to `result.turns`.
void run_in_turns(const BenchCase& c, const std::vector<std::unique_ptr<RankPlugin>>& plugins,
                  Control& control, RankResult& result);

// One report for each plugin, over all its turns; after a failure only one, with the error.
std::vector<Report> make_turn_reports(const BenchCase& c, const std::vector<RankResult>& results);

// The reports of one case as lines of at most 80 characters.
std::string turn_table(const std::vector<Report>& reports);

}  // namespace dlcp::cli
