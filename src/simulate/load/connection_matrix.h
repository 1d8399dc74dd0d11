// Reads workloads in the format of htsim's connection matrices (.cm), so that the same file runs in
// both simulators:
//
//   Nodes 16
//   Connections 2
//   Triggers 1
//   0->5 id 1 start 0 size 2000000 send_done_trigger 1
//   5->9 id 2 trigger 1 size 2000000
//   trigger id 1 oneshot
//
// Times are picoseconds. A barrier triggers when `count` connections have named it. send_done and
// recv_done are the same event here: the arrival of the last byte. Priorities are ignored; failures
// are rejected by name, as a scenario describes them.
#pragma once

#include <cstddef>
#include <string>

#include "simulate/load/job.h"
#include "util/result.h"

namespace dlcp::simulate {

struct ConnectionMatrix {
  std::size_t hosts = 0;
  Workload workload;  // in file order
};

inline constexpr std::size_t kMatrixHostsMax = 4096;
inline constexpr std::size_t kMatrixConnectionsMax = std::size_t{1} << 20;

// `source` names the text in errors, which contain the line.
Result<ConnectionMatrix> parse_connection_matrix(const std::string& text,
                                                 const std::string& source);

}  // namespace dlcp::simulate
