#include "core/send_window.h"

#include "core/credit_pool.h"

namespace dlcp::core {

void SendWindow::on_credit(std::uint32_t packets, std::uint8_t epoch) {
  if (static_cast<std::int8_t>(epoch - epoch_) < 0) return;
  credit_ = std::max<std::uint32_t>(packets, 1);
  epoch_ = epoch;
}

void SendWindow::on_burst(Time now) {
  if (in_flight_ == 0 && now - last_sent_ > kWindowLease) credit_ = std::min(credit_, reserve_);
}

}  // namespace dlcp::core
