// Which options of `dlcp bench` go together, and which values a mode accepts. All functions throw
// BenchError(kUsage) with the option, its value and the reason.
#pragma once

#include <string>

#include "cli/bench/cases/bench_case.h"

namespace dlcp::cli {

[[noreturn]] void refuse(const std::string& what);

// `world_size`: number of processes that a launcher started; 0 if this process starts all ranks.
void check_ranks(const BenchCase& c, int world_size);
void check_budget(const BenchCase& c);
void check_data(const BenchCase& c);
void check_size(const BenchCase& c);
void check_turns(const BenchCase& c);

}  // namespace dlcp::cli
