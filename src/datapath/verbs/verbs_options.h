// What a verbs datapath can be told, and how one is opened. Needs no rdma-core: where the build had
// none, open_verbs says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "datapath/datapath.h"
#include "datapath/marks.h"
#include "datapath/verbs/roce_ports.h"
#include "util/result.h"

namespace dlcp::datapath {

struct VerbsOptions {
  RocePort port;                       // as choose_roce_ports gives it
  std::size_t paths = 16;              // 1..256; queue pairs are at most 64
  std::size_t datagram_bytes_max = 0;  // 0, or more than the port has: the port's
  ClassMarks tos = default_tos();
  std::uint32_t receive_buffers = 3072;
  std::uint32_t send_requests = 2048;  // of all queue pairs together
  std::size_t handles_max = 8192;      // address handles
  std::uint64_t seed = 1;              // of the flow labels
};

struct OpenedVerbs {
  std::unique_ptr<Datapath> datapath;
  std::size_t source_ports = 0;  // per peer, by what is known of the driver
};

Result<OpenedVerbs> open_verbs(const VerbsOptions& options);

// Whether libibverbs can be used here; the error says what is missing.
Status check_verbs();

}  // namespace dlcp::datapath
