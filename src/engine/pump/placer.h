// Copies received payload to its destination. Host memory takes one copy, done at once. Device
// memory may take longer; the core is then informed when the copy is complete
// (core::MemoryKind::kDevice).
#pragma once

#include <cstring>
#include <optional>
#include <span>

#include "core/endpoint_types.h"
#include "util/memory/ordered_copy.h"

namespace dlcp::engine {

class Placer {
 public:
  virtual ~Placer() = default;
  // The payload is valid until this returns. It has been placed by then, unless the placement has a
  // name; poll_placed() then reports it later. A placement without a name goes to host memory.
  virtual void place(const core::Placement& placement) = 0;
  // A completed named placement, in any order; nullopt if there is none at present.
  virtual std::optional<core::PlacementName> poll_placed(Time) { return std::nullopt; }
  // When to call poll_placed() again even if nothing arrives.
  virtual Time next_placed() const { return kNever; }
  // True if a placement in that memory is in progress.
  virtual bool writes(std::span<const std::byte>) const { return false; }
  // Ends them, if that is possible: they count as completed.
  virtual void stop(std::span<const std::byte>) {}
  // True if nothing else should be received for now because too many bytes wait to be placed.
  virtual bool is_full() const { return false; }
  // A named placement that is impossible and will not be completed; nullopt if there is none.
  virtual std::optional<core::PlacementName> poll_failed() { return std::nullopt; }
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
