// Servers that the plugin's all-reduces need, started for one case, each in a process of its own:
// hubs (dlcp-hub) and a stand-in for SwitchML's switch (dlcp-aggregator's code).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/cases/bench_case.h"
#include "cli/launch/processes/children.h"
#include "util/system/fd.h"

namespace dlcp::cli {

class OwnServer {
 public:
  // Runs `serve` in a new process inside the network namespace ("": this one) and waits until it
  // writes the line "ready at PLACE" to stderr. Throws BenchError if it does not.
  OwnServer(const std::string& what, const std::string& name_space,
            const std::function<void()>& serve);
  const std::string& place() const { return place_; }

 private:
  void await_place(const std::string& what);

  Children process_;
  Fd said_;
  std::string place_;
};

class OwnHubs {
 public:
  // Starts `c.own_hubs` hubs: on loopback, or in the namespaces that follow those of the ranks.
  explicit OwnHubs(const BenchCase& c);
  std::string places() const;  // for DLCP_COLLNET_HUBS

 private:
  std::vector<OwnServer> hubs_;
};

// Whether a switch does the case's all-reduces. It adds float32; the plugin does all others
// directly.
bool sums_by_switch(const BenchCase& c);

class OwnSwitch {
 public:
  // On loopback, where it drops the case's share of packets; or in the namespace of rank 0.
  explicit OwnSwitch(const BenchCase& c);
  const std::string& name() const { return server_.place(); }  // for DLCP_COLLNET_SWITCH
  std::uint64_t sums() const { return *sums_; }

 private:
  void serve(const BenchCase& c);

  std::shared_ptr<std::atomic<std::uint64_t>>
      sums_;  // sums that the switch has sent; shared with its process
  OwnServer server_;
};

}  // namespace dlcp::cli
