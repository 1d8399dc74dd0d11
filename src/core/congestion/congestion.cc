#include "core/congestion/congestion.h"

#include "core/congestion/nscc_congestion.h"
#include "core/congestion/queue/queue_congestion.h"

namespace dlcp::core {

std::unique_ptr<CongestionControl> make_congestion(CongestionKind kind, Duration target_delay) {
  const bool given = target_delay > Duration::zero();
  if (kind == CongestionKind::kNscc)
    return std::make_unique<NsccCongestion>(given ? target_delay : kNsccTarget);
  return std::make_unique<QueueCongestion>(given ? target_delay : kQueueTarget);
}

}  // namespace dlcp::core
