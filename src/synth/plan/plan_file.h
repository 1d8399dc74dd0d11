// A plan as JSON:
//
//   {"version": 1, "hash": "...", "topology": "...", "collective": "allreduce", "ranks": 16,
//    "rank_names": [...], "bound_bytes_per_second": ... , "brackets": [
//      {"up_to": 65536, "algorithm": "exchange", "name": "direct of 4, direct of 4", "slices": 1,
//       "order": [0, 1, ...], "levels": [[4, "direct"], [4, "direct"]],
//       "predicted": {"bytes": 65536, "seconds": 1e-4}},
//      {"up_to": null, "algorithm": "trees", "trees": [[units, release, [parents]], ...]}]}
//
// Algorithms: exchange, doubling, Bruck and PAT by their order; trees by their parents; explicit by
// chunks [begin, units, source, target] and messages [step, from, to, reduce, [[first, count],
// ...]].
#pragma once

#include <string>

#include "synth/plan/plan.h"

namespace dlcp::synth {

// A hash of a plan's behaviour: FNV-1a over everything except predictions and names, as 16
// hexadecimal digits.
std::string hash_of(const Plan& plan);
std::string write_plan(const Plan& plan);
// Rejects text that is not a plan, other versions, and plans that were changed after their hash was
// written. Does not expand schedules: see expand() and verify().
Result<Plan> read_plan(const std::string& text, const std::string& source);

}  // namespace dlcp::synth
