// Plans for --mode plan and --algo plan: read, proven again, and expanded for a size.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/bench/bench_case.h"
#include "synth/plan_file.h"

namespace dlcp::cli {

// Nothing unless the benchmark `runs` a plan. Throws BenchError(kUsage) where one is missing,
// needless or no plan.
std::optional<synth::Plan> plan_for(bool runs, const std::string& path);

// What the plan says for so many bytes, in the order of steps; throws BenchError(kUsage) if that is
// not a correct collective.
std::shared_ptr<const synth::Schedule> schedule_of(const synth::Plan& plan, std::size_t bytes);

}  // namespace dlcp::cli
