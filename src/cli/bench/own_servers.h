// Servers that the plugin's all-reduces go by and that last as long as a case, each in a process of
// its own: hubs (dlcp-hub), and a stand-in for SwitchML's switch (dlcp-aggregator's).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/bench_case.h"
#include "cli/launch/children.h"
#include "util/fd.h"

namespace dlcp::cli {

class OwnServer {
 public:
  // Runs `serve` in a new process, inside the network namespace ("": this one). What it writes to
  // stderr has to have the line "ready at PLACE" soon; throws BenchError if not.
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
  // As many as the case wants: on loopback, or inside the namespaces behind those of its ranks.
  explicit OwnHubs(const BenchCase& c);
  std::string places() const;  // for DLCP_COLLNET_HUBS

 private:
  std::vector<OwnServer> hubs_;
};

// Whether the case's sums go by a switch; a switch adds nothing else.
bool sums_by_switch(const BenchCase& c);

class OwnSwitch {
 public:
  // For the case's ranks: over loopback, where it loses what the case has as loss; or inside the
  // namespace of rank 0.
  explicit OwnSwitch(const BenchCase& c);
  const std::string& name() const { return server_.place(); }  // for DLCP_COLLNET_SWITCH
  std::uint64_t sums() const { return *sums_; }

 private:
  void serve(const BenchCase& c);

  std::shared_ptr<std::atomic<std::uint64_t>> sums_;  // shared with its process
  OwnServer server_;
};

}  // namespace dlcp::cli
