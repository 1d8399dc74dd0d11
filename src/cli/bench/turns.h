// Several plugins that run in strict turn in the same processes. The speed of a shared machine may
// change by half within seconds; in alternating turns of a fraction of a second the change affects
// all plugins alike, so the ratio of two plugins varies much less than their speeds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/bench/rank_plugin.h"
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
