// Collectives over and over, as ring and plan run them: warms up, goes on for as long as the case
// says, and counts what is measured. All ranks agree on each round before it begins.
#pragma once

#include <cstdint>

#include "cli/bench/rank.h"

namespace dlcp::cli {

// One rank's part of a collective.
class Round {
 public:
  virtual ~Round() = default;
  virtual void prepare(std::uint64_t iteration) = 0;
  virtual void execute() = 0;  // until this rank's part is done: what is timed
  virtual void settle() {}     // until nothing of it is on its way any more
  virtual void check(std::uint64_t iteration) = 0;
  virtual std::uint64_t bytes_received() const = 0;  // since the beginning
};

void run_rounds(Session& session, Round& round);

}  // namespace dlcp::cli
