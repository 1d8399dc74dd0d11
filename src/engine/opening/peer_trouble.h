// The error text for a peer that cannot be reached or has gone. The core only detects that nothing
// arrived; the datapath has the network's reports, and this host its addresses and routes.
// explain() combines these into one text: what failed, what was seen, every cause that fits, and
// the command to test with. It states a single cause only if no other one fits.
#pragma once

#include <optional>
#include <string>

#include "core/endpoint_types.h"
#include "datapath/datapath.h"
#include "datapath/path_report.h"
#include "engine/host/log.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::engine {

struct PeerTrouble {
  Error seen;                   // by the core
  std::string peer;             // "10.0.0.2:50123"; empty: unknown
  std::string host;             // "10.0.0.2"
  datapath::PathReport report;  // what the network reported about packets to that host
  bool needs_marks = false;     // nothing was tried without DSCP and ECN
  bool is_own_address = false;  // the peer's address is also an address of this host
};

Error explain(const PeerTrouble& trouble);

// Collects what this host knows about a connection that has ended. `memory`: maximum age of a
// network report that may be related to it.
PeerTrouble trouble_of(const datapath::Datapath& datapath, const core::Event& closed, Time now,
                       Duration memory);

// For a peer to which this host's kernel refuses to send: why; nullopt if that is not known. If
// this host only answers, no connection ends here that could report it. A missing route is not a
// warning, because another pair of addresses may have one.
std::optional<LogLine> refusal_of(const datapath::Datapath& datapath,
                                  const datapath::RefusedPeer& peer);

// The warning that packets to this peer's host go without DSCP and ECN.
std::string explain_unmarked(const wire::EndpointAddress& peer);

}  // namespace dlcp::engine
