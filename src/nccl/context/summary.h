// The summary of a communicator for NCCL's log when it ends.
#pragma once

#include <cstdint>
#include <string>

#include "engine/live/monitor.h"

namespace dlcp::nccl {

// Empty if it transferred nothing. `communicator` is NCCL's hash, 0 if NCCL does not report it.
std::string summary_line(std::uint64_t communicator, const engine::ContextSummary& summary);

}  // namespace dlcp::nccl
