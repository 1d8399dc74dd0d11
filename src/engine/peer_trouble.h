// What users read when a peer cannot be reached or has gone. The core knows only that nothing
// arrived; the datapath knows what the network reported, and this host which addresses and routes
// it has. explain() makes one text of all that: what failed, what was seen, every cause that fits,
// and the command to test with. It names no cause as the only one unless no other fits.
#pragma once

#include <string>

#include "core/endpoint_types.h"
#include "datapath/datapath.h"
#include "datapath/path_report.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::engine {

struct PeerTrouble {
  Error seen;                   // by the core
  std::string peer;             // "10.0.0.2:50123"; empty: not known
  std::string host;             // "10.0.0.2"
  datapath::PathReport report;  // what the network reported about packets to that host
  bool is_own_address = false;  // this host has the peer's address as well
};

Error explain(const PeerTrouble& trouble);

// Collects what this host knows about a connection that has ended. `memory`: how old a report of
// the network may be to have anything to do with it.
PeerTrouble trouble_of(const datapath::Datapath& datapath, const core::Event& closed, Time now,
                       Duration memory);

}  // namespace dlcp::engine
