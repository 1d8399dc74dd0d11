#include "datapath/sim/network/link.h"

#include <algorithm>
#include <memory>

namespace dlcp::datapath::sim {

Duration Link::serialisation(const Frame& frame) const {
  const std::uint64_t bits = std::uint64_t{frame.wire_bytes()} * 8;
  return Duration(static_cast<std::int64_t>(bits * 1'000'000'000 / config_.rate));
}

bool Link::swallowed(Time now, const Frame& frame) {
  for (const auto& [from, until] : outages_)
    if (now >= from && now < until) return ++counters_.while_down > 0;
  if (frame.ip_bytes() > config_.mtu) return ++counters_.oversize > 0;
  if (faults_.blackhole_classes != 0) {
    const auto flow_class = flow_hash(frame, faults_.blackhole_seed) % 64;
    if (faults_.blackhole_classes >> flow_class & 1) return ++counters_.blackholed > 0;
  }
  if (faults_.drops != nullptr && faults_.drops(frame)) return ++counters_.blackholed > 0;
  if (now > run_ends_) run_left_ = 0;
  if (run_left_ == 0 && rng_.chance(faults_.drop / faults_.drop_run)) {
    run_left_ = faults_.drop_run;
    run_ends_ = now + 2 * faults_.drop_run * serialisation(frame);
  }
  if (run_left_ == 0) return false;
  --run_left_;
  return ++counters_.lost > 0;
}

void Link::corrupt(Frame& frame) {
  const std::size_t within = std::min(frame.bytes.size(), faults_.corrupt_within);
  if (within == 0) return;
  const std::uint64_t flips = 1 + rng_.below(3);
  for (std::uint64_t i = 0; i < flips; ++i)
    frame.bytes[rng_.below(within)] ^= std::byte{static_cast<unsigned char>(1u << rng_.below(8))};
  ++counters_.corrupted;
}

Duration Link::jitter() {
  if (!rng_.chance(faults_.reorder)) return Duration::zero();
  ++counters_.reordered;
  return Duration(rng_.below(faults_.reorder_delay.count() + 1));
}

void Link::send(Time now, FramePtr frame) {
  ++counters_.frames;
  counters_.bytes += frame->wire_bytes();
  if (swallowed(now, *frame)) return;
  const Time arrival = now + serialisation(*frame) + config_.delay;
  if (rng_.chance(faults_.duplicate)) {
    ++counters_.duplicated;
    events_.schedule(arrival + jitter(), far_end_, std::make_unique<Frame>(*frame));
  }
  if (rng_.chance(faults_.corrupt)) corrupt(*frame);
  events_.schedule(arrival + jitter(), far_end_, std::move(frame));
}

}  // namespace dlcp::datapath::sim
