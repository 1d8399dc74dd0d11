// The connections of a case: which rank sends to which, and their set-up. As in NCCL there is one
// listen per connection and an exchange of handles; connect and accept are polled in turn until all
// connections are open.
#pragma once

#include <vector>

#include "cli/bench/cases/bench_case.h"
#include "cli/launch/control.h"
#include "cli/plugin/net_plugin.h"

namespace dlcp::cli {

struct Wire {
  int source;
  int destination;
  int channel;
};

struct Link {
  Wire wire;
  std::size_t number;   // among all wires of the case
  std::size_t ordinal;  // among the wires to the same destination
  void* comm = nullptr;
  bool sends(int rank) const { return wire.source == rank; }
};

class Links {
 public:
  Links(NetPlugin& net, Control& control) : net_(net), control_(control) {}

  void open(const BenchCase& bench_case);
  // The device of this rank's first connection. Call after open().
  int first_device() const { return first_device_ % devices_; }
  void close();
  std::vector<Link>& all() { return links_; }
  Link* find(int source, int destination, int channel);

 private:
  int device_of(const Wire& wire) const;
  std::string listen(const std::vector<Wire>& wires);
  void connect(const std::vector<std::string>& handles);

  NetPlugin& net_;
  Control& control_;
  int devices_ = 0;
  int first_device_ = 0;
  std::vector<Link> links_;
  std::vector<void*> listens_;  // by link; null where this rank sends
};

}  // namespace dlcp::cli
