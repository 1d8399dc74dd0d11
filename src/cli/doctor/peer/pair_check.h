// Every pair of a local device and a device of the peer, in both directions: the part of `dlcp
// doctor --peer` beyond the one pair that the kernel would choose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/finding.h"
#include "cli/doctor/path/path_probe.h"
#include "cli/doctor/peer/device_list.h"
#include "util/result.h"

namespace dlcp::cli {

struct PairResult {
  NamedDevice here;
  NamedDevice there;
  std::size_t here_number = 0;
  std::size_t there_number = 0;
  std::string trouble;                         // why the measurement failed; empty: it succeeded
  std::optional<PathMeasurement> measurement;  // with few probes
  std::optional<DeviceAnswer> seen;            // this device as the peer sees it
  std::uint16_t sent_from = 0;                 // source port of the question that `seen` answers

  bool is_translated() const;  // NAT between the two
  bool works() const;
};

// Requests the listener's devices; empty if its version does not support the request.
Result<std::vector<NamedDevice>> ask_devices(const datapath::IpAddress& peer,
                                             const std::vector<std::uint16_t>& meeting_ports);

// Pairs addresses of the same family. `options`: of the main probe.
std::vector<PairResult> check_pairs(const std::vector<NamedDevice>& here,
                                    const std::vector<NamedDevice>& there,
                                    const PathProbeOptions& options);

// A finding for each pair. A pair that does not work is a failure only if no pair works; otherwise
// it is a warning if NCCL's topology uses it.
Findings judge(const std::vector<PairResult>& pairs);

// The last line: "NCCL will use DLCP between these hosts over ...", or the first thing to fix among
// `findings`. If `pairs` is empty, only the main probe of `peer` counts.
Finding verdict(const std::vector<PairResult>& pairs, const Findings& findings,
                const std::string& peer);

}  // namespace dlcp::cli
