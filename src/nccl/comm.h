// The objects behind the pointers that NCCL holds.
#pragma once

#include <cstddef>
#include <memory>

#include "core/endpoint.h"
#include "engine/engine.h"
#include "nccl/context.h"
#include "nccl/licensing.h"

namespace dlcp::nccl {

struct ListenComm {
  Context* context = nullptr;
  engine::Engines engines;  // it listens on both, where there are both
  core::ListenerId roce_listener = 0;
  core::ListenerId udp_listener = 0;
};

// A sendComm or a recvComm.
struct Comm {
  Context* context = nullptr;
  std::shared_ptr<engine::Engine> engine;
  engine::Connection* connection = nullptr;
  Licensing licensing;
};

// Registering host memory is book-keeping: what deregMr has to fence.
struct Registration {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

}  // namespace dlcp::nccl
