// What a communicator did, as one line for NCCL's log at its end.
#pragma once

#include <cstdint>
#include <string>

#include "engine/monitor.h"

namespace dlcp::nccl {

// Empty if it moved nothing. `communicator`: NCCL's hash, 0 where NCCL does not tell.
std::string summary_line(std::uint64_t communicator, const engine::ContextSummary& summary);

}  // namespace dlcp::nccl
