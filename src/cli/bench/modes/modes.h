// The table of modes: what each connects and runs, its defaults, and how its report reads.
#pragma once

#include <vector>

#include "cli/bench/cases/bench_case.h"
#include "cli/bench/rank/links.h"

namespace dlcp::cli {

struct Session;

struct ModeTraits {
  const char* name;
  int ranks;            // by default
  const char* size;     // by default
  int inflight;         // by default; fixed where `reduces`
  bool in_pairs;        // ranks work two by two
  bool per_rank;        // the bus bandwidth is that of one rank, otherwise of all together
  bool makes_payload;   // takes --data; the other modes send numbers that they can reduce
  bool reduces;         // all-reduces; the table shows wrong elements instead of wrong bytes
  const char* time_of;  // the operation that one time sample measures; null: one message
  // All connections of a case, in the same order on every rank.
  std::vector<Wire> (*wires)(const BenchCase& bench_case);
  void (*run)(Session& session);
};

const ModeTraits& traits_of(Mode mode);

}  // namespace dlcp::cli
