// The counters of a process, summed over its devices and their lifetimes, and their JSON form.
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
  // Adds the counters of one engine and its datapath.
  void add(const core::Counters& counters, std::string_view datapath,
           const std::vector<datapath::NamedCount>& counts);

  std::uint64_t total(core::Counter counter) const {
    return core_[static_cast<std::size_t>(counter)];
  }

  // One object: every core counter by name, "mean_burst", and for each type of datapath that was
  // open ("udp", "verbs") an object with its counters.
  std::string json() const;

  // Writes json() to `path`, in which %h is replaced by the host's name and %p by the process ID.
  // Returns 0 or the error number.
  int write(const std::string& path) const;

 private:
  std::array<std::uint64_t, core::kCounterCount> core_{};
  std::map<std::string, std::vector<datapath::NamedCount>, std::less<>> datapaths_;
};

}  // namespace dlcp::engine
