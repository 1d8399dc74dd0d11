// Who puts what has arrived where it belongs. Memory of this host takes one copy, at once.
#pragma once

#include <cstring>

#include "core/endpoint_types.h"
#include "util/ordered_copy.h"

namespace dlcp::engine {

class Placer {
 public:
  virtual ~Placer() = default;
  // The payload is valid until this returns; it has been placed by then.
  virtual void place(const core::Placement& placement) = 0;
};

class HostPlacer final : public Placer {
 public:
  void place(const core::Placement& placement) override {
    if (placement.zeros > 0) {
      std::memset(placement.destination, 0, placement.zeros);
      return;
    }
    ordered_copy(placement.destination, placement.payload.data(), placement.payload.size());
  }
};

}  // namespace dlcp::engine
