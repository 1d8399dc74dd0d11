// The values of setNetAttr for the transfers that follow. NCCL calls it on the thread that
// transfers, and only when values change; its other thread also calls it, for connections. The
// values are therefore stored per thread and communicator.
#pragma once

#include <cstdint>
#include <optional>

#include "core/endpoint.h"

namespace dlcp::nccl {

// Bit masks; see abi/net_v11.h.
struct TransferAttributes {
  std::uint32_t function = 0;
  std::uint32_t algorithm = 0;
  std::uint32_t protocol = 0;
};

void remember_attributes(core::ContextId context, const TransferAttributes& attributes);
// The values of this thread; nullopt if there are none or they are too old.
std::optional<TransferAttributes> attributes_of(core::ContextId context);

}  // namespace dlcp::nccl
