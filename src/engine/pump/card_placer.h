// Copies received payload to host memory itself, and has the network card write it to memory of a
// GPU, which the processor cannot access.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "datapath/datapath.h"
#include "datapath/placer.h"
#include "engine/pump/placer.h"

namespace dlcp::engine {

class CardPlacer final : public Placer {
 public:
  // `card` must outlive this object.
  explicit CardPlacer(datapath::Placer& card) : card_(card) {}

  // If the card fails, the message of a named placement is never complete, and the sender gives up.
  void place(const core::Placement& placement) override;
  std::optional<core::PlacementName> poll_placed(Time now) override;
  bool writes(std::span<const std::byte> memory) const override { return card_.writes(memory); }

 private:
  datapath::Placer& card_;
  HostPlacer host_;
  std::deque<core::PlacementName> waiting_;  // in the order in which the card finishes them
  std::size_t finished_ = 0;                 // of these
};

// The placer for an engine over this datapath.
std::unique_ptr<Placer> placer_for(datapath::Datapath& datapath);

}  // namespace dlcp::engine
