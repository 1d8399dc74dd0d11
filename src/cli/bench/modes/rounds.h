// The loop of ring, plan and allreduce: one collective after the other, with a warm-up, for as long
// as the case says. All ranks agree before each round whether it is measured.
#pragma once

#include <cstdint>

#include "cli/bench/modes/rest.h"
#include "cli/bench/rank/rank.h"

namespace dlcp::cli {

// One rank's part of a collective.
class Round {
 public:
  explicit Round(Session& session) : control_(session.control), rest_(session.bench_case) {}
  virtual ~Round() = default;
  virtual void prepare(std::uint64_t iteration) = 0;
  virtual void execute() = 0;  // until this rank's part is done; this is timed
  virtual void drain() {}      // until no request is outstanding
  virtual void check(std::uint64_t iteration) = 0;
  virtual std::uint64_t bytes_received() const = 0;  // since the beginning

 protected:
  // Calls `step` until `done`; rests when a step did nothing and reports progress.
  template <class Done, class Step>
  void step_until(Done done, Step step) {
    for (std::uint64_t pass = 0; !done(); pass++) {
      if (!step()) rest_();
      if (pass % 64 == 0) control_.alive(bytes_received());
    }
  }

 private:
  Control& control_;
  Rest rest_;
};

void run_rounds(Session& session, Round& round);

}  // namespace dlcp::cli
