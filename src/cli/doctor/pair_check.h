// Every pair of a device here and one at the peer, both ways: what `dlcp doctor --peer` does beyond
// the one pair that the kernel would choose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/device_list.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/path_probe.h"
#include "util/result.h"

namespace dlcp::cli {

struct PairResult {
  NamedDevice here;
  NamedDevice there;
  std::size_t here_number = 0;
  std::size_t there_number = 0;
  std::string trouble;                         // why nothing could be measured; empty: it was
  std::optional<PathMeasurement> measurement;  // with few probes
  std::optional<DeviceAnswer> seen;            // as the peer sees this device
  std::uint16_t sent_from = 0;                 // the port of the question that `seen` answers

  bool is_translated() const;  // NAT between the two
  bool works() const;
};

// Asks the listener for its devices. Its version may have no answer to that: then there are none.
Result<std::vector<NamedDevice>> ask_devices(const datapath::IpAddress& peer,
                                             const std::vector<std::uint16_t>& meeting_ports);

// Of one address family each. `options`: of the main probe.
std::vector<PairResult> check_pairs(const std::vector<NamedDevice>& here,
                                    const std::vector<NamedDevice>& there,
                                    const PathProbeOptions& options);

// A finding for each pair: one that does not work is a failure only if none does, and else a
// warning if NCCL's topology assumes it.
Findings judge(const std::vector<PairResult>& pairs);

// The last line: "NCCL will use DLCP between these hosts over ...", or the first thing to fix among
// `findings`. `pairs` may be empty: the main probe alone speaks then, of `peer`.
Finding verdict(const std::vector<PairResult>& pairs, const Findings& findings,
                const std::string& peer);

}  // namespace dlcp::cli
