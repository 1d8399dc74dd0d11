// The objects behind the pointers that NCCL holds.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/endpoint.h"
#include "engine/bundle.h"
#include "engine/gathering.h"
#include "nccl/context.h"
#include "nccl/loss/licensing.h"

namespace dlcp::nccl {

struct ListenComm {
  Context* context = nullptr;
  engine::Port port;
  std::vector<core::ListenerId> listeners;  // one on each lane
  engine::Gathering gathering;
};

// A sendComm or a recvComm.
struct Comm {
  Context* context = nullptr;
  engine::Bundle bundle;
  Licensing licensing;
};

// Registering host memory is book-keeping: what deregMr has to fence.
struct Registration {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

}  // namespace dlcp::nccl
