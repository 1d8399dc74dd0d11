// Collectives over and over, as ring, plan and allreduce run them: warms up, goes on for as long as
// the case says, and counts what is measured. All ranks agree on each round before it begins.
#pragma once

#include <cstdint>

#include "cli/bench/rank.h"
#include "cli/bench/rest.h"

namespace dlcp::cli {

// One rank's part of a collective.
class Round {
 public:
  explicit Round(Session& session) : control_(session.control), rest_(session.bench_case) {}
  virtual ~Round() = default;
  virtual void prepare(std::uint64_t iteration) = 0;
  virtual void execute() = 0;  // until this rank's part is done: what is timed
  virtual void drain() {}      // until nothing of it is on its way any more
  virtual void check(std::uint64_t iteration) = 0;
  virtual std::uint64_t bytes_received() const = 0;  // since the beginning

 protected:
  // Rests where a step moves nothing, and says that this rank is alive.
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
