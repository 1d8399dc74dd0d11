// A stand-in for SwitchML's switch (dlcp-aggregator's) that lasts as long as a case, in a process
// of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "cli/bench/bench_case.h"

namespace dlcp::cli {

// Whether the case's sums go by a switch; a switch adds nothing else.
bool sums_by_switch(const BenchCase& c);

class OwnSwitch {
 public:
  // For the case's ranks: over loopback, where it loses what the case has as loss; or inside the
  // namespace of rank 0. Throws BenchError.
  explicit OwnSwitch(const BenchCase& c);
  ~OwnSwitch();
  OwnSwitch(const OwnSwitch&) = delete;
  OwnSwitch& operator=(const OwnSwitch&) = delete;

  std::string name() const;  // for DLCP_COLLNET_SWITCH
  std::uint64_t sums() const;

 private:
  struct Shared;  // with its process

  pid_t pid_ = -1;
  Shared* shared_;
};

}  // namespace dlcp::cli
