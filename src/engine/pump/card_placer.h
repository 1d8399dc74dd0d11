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

  void place(const core::Placement& placement) override;
  std::optional<core::PlacementName> poll_placed(Time now) override;
  std::optional<core::PlacementName> poll_failed() override;
  bool writes(std::span<const std::byte> memory) const override { return card_.writes(memory); }
  void stop(std::span<const std::byte> memory) override { card_.stop_writes(memory); }
  bool is_full() const override { return waiting_bytes_ >= kWaitingBytesMax; }

 private:
  // Copies of packets that wait for the card, which reads one packet at a time, are not to fill the
  // memory of the host.
  static constexpr std::size_t kWaitingBytesMax = std::size_t{16} << 20;

  struct Waiting {
    core::PlacementName name;
    std::size_t bytes = 0;  // of which there is a copy
  };

  datapath::Placer& card_;
  HostPlacer host_;
  std::deque<Waiting> waiting_;  // in the order in which the card finishes them
  std::size_t waiting_bytes_ = 0;
  std::size_t finished_ = 0;  // of waiting_
  std::deque<core::PlacementName> failed_;
};

// The placer for an engine over this datapath.
std::unique_ptr<Placer> placer_for(datapath::Datapath& datapath);

}  // namespace dlcp::engine
