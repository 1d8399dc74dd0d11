#include "core/congestion/congestion.h"

#include "core/congestion/delay_congestion.h"
#include "core/congestion/nscc_congestion.h"
#include "core/congestion/queue/queue_congestion.h"

namespace dlcp::core {

std::unique_ptr<CongestionControl> make_congestion(CongestionKind kind, Duration target_delay) {
  const bool given = target_delay > Duration::zero();
  switch (kind) {
    case CongestionKind::kDelay:
      return std::make_unique<DelayCongestion>(given ? target_delay : kDelayTarget);
    case CongestionKind::kNscc:
      return std::make_unique<NsccCongestion>(given ? target_delay : kNsccTarget);
    case CongestionKind::kQueue:
      break;
  }
  return std::make_unique<QueueCongestion>(given ? target_delay : kQueueTarget);
}

}  // namespace dlcp::core
