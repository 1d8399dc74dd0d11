// The handles of all ranks of a group, as NCCL passes them to each rank.
#pragma once

#include <vector>

#include "nccl/net/handle.h"
#include "util/result.h"

namespace dlcp::nccl {

// All ranks get the same handles, so all find the same errors in them.
Result<std::vector<Handle>> read_handles(void* handles[], std::size_t ranks);
Status check_all_alike(const std::vector<Handle>& handles);

}  // namespace dlcp::nccl
