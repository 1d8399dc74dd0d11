// Who puts what has arrived where it belongs. Memory of this host takes one copy, at once; a
// device's may take a while, and then the core hears when it has been done
// (core::Config::placed_later).
#pragma once

#include <cstring>
#include <optional>
#include <span>

#include "core/endpoint_types.h"
#include "util/ordered_copy.h"

namespace dlcp::engine {

class Placer {
 public:
  virtual ~Placer() = default;
  // The payload is valid until this returns. It has been placed by then, unless the placement has a
  // name: poll_placed() tells later. One without a name goes to memory of this host.
  virtual void place(const core::Placement& placement) = 0;
  // A named placement that has been done, in whatever order; nullopt: none more so far.
  virtual std::optional<core::PlacementName> poll_placed() { return std::nullopt; }
  // When to ask again although nothing arrives.
  virtual Time next_placed() const { return kNever; }
  // Whether a placement in that memory is under way.
  virtual bool writes(std::span<const std::byte>) const { return false; }
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
