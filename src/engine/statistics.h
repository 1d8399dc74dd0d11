// Counters of a process, summed over its devices and their lifetimes, and their form as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/counters.h"
#include "datapath/udp/udp_counters.h"
#include "datapath/verbs/verbs_counters.h"

namespace dlcp::engine {

class Statistics {
 public:
  // Those of datapaths that the device has.
  void add(const core::Counters& counters, const datapath::UdpCounters* udp,
           const datapath::VerbsCounters* verbs);

  // One object: every core counter by its name, "mean_burst", and "udp" and "verbs" with theirs.
  std::string json() const;

  // Writes json() to `path`, where %p stands for the process id. Failures are silent: nobody is
  // left to hear of them when this is called.
  void write(const std::string& path) const;

 private:
  std::array<std::uint64_t, core::kCounterCount> core_{};
  datapath::UdpCounters udp_;
  datapath::VerbsCounters verbs_;
};

}  // namespace dlcp::engine
