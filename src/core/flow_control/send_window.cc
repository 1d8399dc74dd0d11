#include "core/flow_control/send_window.h"

#include <cmath>

#include "core/flow_control/credit_pool.h"

namespace dlcp::core {
namespace {

// The credit covers a path of this RTT at tens of Gbit/s.
constexpr Duration kCovered = 200us;
// With fewer packets the cost of an acknowledgement is too high.
constexpr double kStopLeast = 4;

}  // namespace

void SendWindow::on_credit(std::uint32_t packets, std::uint16_t epoch) {
  credit_ = std::max<std::uint32_t>(packets, 1);
  epoch_ = epoch;
}

void SendWindow::on_burst(Time now) {
  // On a long path all packets may be acknowledged together; the round trip until then is not a
  // pause. Up to an RTT of about 10 ms the extended lease stays below the time after which the
  // receiver takes the share back.
  const Duration lease = kWindowLease + 2 * fabric_.smoothed();
  if (in_flight_ == 0 && now - last_sent_ > lease) {
    credit_ = std::min(credit_, reserve_);
    reach_ = 0;
    delivered_ = {};
  }
}

SendWindow::AskTerms SendWindow::ask_terms(Time now, double congestion_window) const {
  const Duration rest = std::min(kAskEvery, fabric_.smoothed_or(2 * kAskEvery) / 2);
  return {limit(congestion_window), now - asked_at_ >= rest};
}

std::size_t SendWindow::next_asking(Time now, AskTerms& terms, std::size_t from, std::size_t end) {
  // How many packets leave before the one that makes `packets` at least `least`.
  const auto before = [](double least, std::size_t packets) {
    const double lacking = std::ceil(least) - static_cast<double>(packets + 1);
    return lacking > 0 ? static_cast<std::size_t>(lacking) : std::size_t{0};
  };
  const double most = terms.most;
  const std::size_t in_flight = in_flight_ + from;
  std::size_t skipped =
      std::max(before(most, in_flight), before(std::max(most / 4, kStopLeast), unasked_));
  if (terms.rested)
    skipped = std::min(skipped, std::max(before(most / 2, in_flight), before(most / 2, unasked_)));
  if (terms.unneeded || skipped >= end - from) {
    unasked_ += static_cast<std::uint32_t>(end - from);
    return end;
  }
  unasked_ = 0;
  asked_at_ = now;
  terms.rested = false;
  return from + skipped;
}

void SendWindow::on_delivered(Time now, std::uint32_t packets, Duration fabric) {
  delivered_[0] += packets;
  if (packets > 0) delivered_at_ = now;
  if (fabric <= Duration::zero()) return;
  fabric_.add(fabric);
  fabric_least_ = std::min(fabric_least_, fabric);
  if (now < round_ends_) return;
  const std::uint32_t most = *std::max_element(delivered_.begin(), delivered_.end());
  const Duration round = fabric_.smoothed() + 4 * fabric_.variation() - kCovered;
  reach_ = round > Duration::zero() && !quick_ ? 2 * most : 0;
  std::copy_backward(delivered_.begin(), delivered_.end() - 1, delivered_.end());
  delivered_[0] = 0;
  round_ends_ = now + std::max(round, kCovered);
}

}  // namespace dlcp::core
