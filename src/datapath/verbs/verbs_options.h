// The options of a verbs datapath, and how to open one. Does not need rdma-core: if the build had
// none, open_verbs returns an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "datapath/datapath.h"
#include "datapath/marks.h"
#include "datapath/verbs/device/roce_ports.h"
#include "datapath/verbs/placement/placement_ability.h"
#include "util/result.h"

namespace dlcp::datapath {

struct VerbsOptions {
  RocePort port;                       // from choose_roce_ports
  std::size_t paths = 16;              // 1..256; at most 64 queue pairs
  std::size_t datagram_bytes_max = 0;  // 0, or more than the port's MTU allows: the port's maximum
  ClassMarks tos = default_tos();
  std::uint32_t receive_buffers = 3072;
  std::uint32_t send_requests = 2048;  // of all queue pairs together
  std::size_t handles_max = 8192;      // address handles
  PlacementAbility placement;          // from test_placement(); as it is here: no placed packets
};

struct OpenedVerbs {
  std::unique_ptr<Datapath> datapath;
  std::size_t source_ports = 0;  // per peer, as far as the driver's behaviour is known
};

Result<OpenedVerbs> open_verbs(const VerbsOptions& options);

// Succeeds if libibverbs can be used on this host; the error states what is missing.
Status check_verbs();

}  // namespace dlcp::datapath
