// What setNetAttr has said of the transfers that follow. NCCL calls it on the thread that
// transfers, and only for changes; its other thread calls it too, for connections. So each thread
// remembers its own, per communicator.
#pragma once

#include <cstdint>
#include <optional>

#include "core/endpoint.h"

namespace dlcp::nccl {

// Bit masks, see abi/net_v11.h.
struct TransferAttributes {
  std::uint32_t function = 0;
  std::uint32_t algorithm = 0;
  std::uint32_t protocol = 0;
};

void remember_attributes(core::ContextId context, const TransferAttributes& attributes);
// Of this thread; nothing if it was told nothing, or too long ago.
std::optional<TransferAttributes> attributes_of(core::ContextId context);

}  // namespace dlcp::nccl
