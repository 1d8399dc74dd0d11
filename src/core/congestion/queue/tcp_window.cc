#include "core/congestion/queue/tcp_window.h"

#include <algorithm>
#include <cmath>

#include "core/congestion/congestion.h"

namespace dlcp::core {
namespace {

constexpr double kC = 0.4;  // packets per second cubed
constexpr double kBeta = 0.7;
constexpr double kRenoGrowth = 3 * (1 - kBeta) / (1 + kBeta);  // packets per round
constexpr double kMostGrowth = 1.5;                            // per round
// A full queue drops packets in two successive rounds; that is one event.
constexpr double kEventRounds = 1.5;

double seconds(Duration duration) {
  return static_cast<double>(duration.count()) * 1e-9;
}

}  // namespace

void TcpWindow::begin(Time now, double packets) {
  window_ = before_cut_ = after_cut_ = std::max(packets, kWindowSmall);
  cut_at_ = now;
}

void TcpWindow::on_round(Time now, Duration round_trip, bool lost) {
  const double round = std::max(seconds(round_trip), 1e-9);
  const double since = seconds(now - cut_at_);
  if (lost && since > kEventRounds * round) {
    // Fast convergence: a flow whose window shrinks leaves more room for others.
    before_cut_ = window_ < before_cut_ ? window_ * (1 + kBeta) / 2 : window_;
    window_ = after_cut_ = std::max(kWindowSmall, window_ * kBeta);
    cut_at_ = now;
    return;
  }
  const double back_at = std::cbrt((before_cut_ - after_cut_) / kC);
  const double cubic = kC * std::pow(since - back_at, 3) + before_cut_;
  const double reno = after_cut_ + kRenoGrowth * since / round;
  window_ = std::clamp(std::max(cubic, reno), window_, kMostGrowth * window_);
}

}  // namespace dlcp::core
