// What a rank does when nothing has moved: it looks again at once, lets others run, or sleeps.
#pragma once

#include "cli/bench/bench_case.h"

namespace dlcp::cli {

class Rest {
 public:
  explicit Rest(const BenchCase& bench_case);
  void operator()() const;

 private:
  Idle idle_;  // not kAuto
};

}  // namespace dlcp::cli
