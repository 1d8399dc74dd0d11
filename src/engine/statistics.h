// Counters of a process, summed over its devices and their lifetimes, and their form as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/counters.h"
#include "datapath/datapath.h"

namespace dlcp::engine {

class Statistics {
 public:
  // Of one engine, and of the datapath that it ran on.
  void add(const core::Counters& counters, std::string_view datapath,
           const std::vector<datapath::NamedCount>& counts);

  // One object: every core counter by its name, "mean_burst", and for each kind of datapath that
  // was open ("udp", "verbs") an object with what it counted.
  std::string json() const;

  // Writes json() to `path`, where %p stands for the process id. Failures are silent: nobody is
  // left to hear of them when this is called.
  void write(const std::string& path) const;

 private:
  std::array<std::uint64_t, core::kCounterCount> core_{};
  std::map<std::string, std::vector<datapath::NamedCount>, std::less<>> datapaths_;
};

}  // namespace dlcp::engine
