// The objects behind the pointers that NCCL holds.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/endpoint.h"
#include "engine/opening/bundle.h"
#include "engine/opening/gathering.h"
#include "nccl/context/context.h"
#include "nccl/loss/licensing.h"

namespace dlcp::nccl {

struct ListenComm {
  Context* context = nullptr;
  engine::Port own;                         // lanes of the device
  engine::Port port;                        // these, and after them spare lanes of other devices
  std::vector<core::ListenerId> listeners;  // one on each lane of `port`
  engine::Gathering gathering;
  unsigned polls = 0;

  // The listeners to poll now. Nearly all connections arrive at the device's own listeners. The
  // others are polled less often; their helper threads respond to peers meanwhile.
  std::span<const core::ListenerId> due() {
    constexpr unsigned kSparesEvery = 8;
    const bool all = ++polls % kSparesEvery == 0;
    return std::span(listeners).first(all ? listeners.size() : own.lanes().size());
  }
};

// A sendComm or a recvComm.
struct Comm {
  Context* context = nullptr;
  engine::Bundle bundle;
  Licensing licensing;
};

// Memory that deregMr must release.
struct Registration {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  core::MemoryKind kind = core::MemoryKind::kHost;
};

}  // namespace dlcp::nccl
