#include "engine/pump/card_placer.h"

namespace dlcp::engine {

void CardPlacer::place(const core::Placement& placement) {
  if (placement.name.connection == 0) {
    host_.place(placement);
    return;
  }
  const std::size_t bytes = placement.zeros > 0 ? placement.zeros : placement.payload.size();
  if (!card_.write({placement.destination, bytes}, placement.payload)) {
    failed_.push_back(placement.name);
    return;
  }
  waiting_.push_back({placement.name, placement.payload.size()});
  waiting_bytes_ += placement.payload.size();
}

std::optional<core::PlacementName> CardPlacer::poll_placed(Time now) {
  if (waiting_.empty()) return std::nullopt;
  if (finished_ == 0) finished_ = card_.written(now);
  if (finished_ == 0) return std::nullopt;
  --finished_;
  const Waiting done = waiting_.front();
  waiting_.pop_front();
  waiting_bytes_ -= done.bytes;
  return done.name;
}

std::optional<core::PlacementName> CardPlacer::poll_failed() {
  if (failed_.empty()) return std::nullopt;
  const core::PlacementName name = failed_.front();
  failed_.pop_front();
  return name;
}

std::unique_ptr<Placer> placer_for(datapath::Datapath& datapath) {
  datapath::Placer* const card = datapath.placer();
  const auto gpu = card != nullptr ? card->gpu_access() : datapath::GpuAccess{};
  if (gpu.dma_buf || gpu.peer_memory) return std::make_unique<CardPlacer>(*card);
  return std::make_unique<HostPlacer>();
}

}  // namespace dlcp::engine
