// Models of the kernel's congestion controls for comparison: the decisions of CUBIC (RFC 9438) and
// BBR from acknowledgements, with a perfect loss detection and no timeouts. So they perform better
// here than the kernel's do under reordering.
#pragma once

#include <deque>

#include "flow.h"

namespace dlcp::test {

class TcpModel {
 public:
  struct Ack {
    double now = 0;         // seconds
    double round_trip = 0;  // of the acknowledged packet
    double smoothed = 0;
    double packets = 0;
    double rate = 0;  // delivery rate while this packet was in flight, packets per second
    double in_flight = 0;
    bool round_ends =
        false;             // at least one round trip has passed since the last ACK with this flag
    bool limited = false;  // the window was fully used
  };
  virtual ~TcpModel() = default;
  virtual void on_ack(const Ack& ack) = 0;
  virtual void on_loss(double now, double smoothed, double in_flight) = 0;
  virtual double window() const = 0;
  virtual double pace(double smoothed) const = 0;  // packets per second
};

class CubicModel final : public TcpModel {
 public:
  void on_ack(const Ack& ack) override;
  void on_loss(double now, double smoothed, double in_flight) override;
  double window() const override { return window_; }
  double pace(double smoothed) const override {
    return (slow_start_ ? 2 : 1.2) * window_ / smoothed;
  }

 private:
  double window_ = 10;
  double most_ = 0;     // before the last cut
  double reduced_ = 0;  // after the last cut
  double cut_at_ = -1;
  double base_ = 1e9;
  bool slow_start_ = true;
};

// BBR's path model: the bandwidth is the largest delivery rate of ten rounds, the delay the
// smallest round trip. Includes version 3's response to losses above 2%.
class BbrModel final : public TcpModel {
 public:
  void on_ack(const Ack& ack) override;
  void on_loss(double now, double smoothed, double in_flight) override;
  double window() const override;
  double pace(double smoothed) const override;

 private:
  double bdp() const { return bandwidth_ * base_; }
  void end_round(const Ack& ack);

  enum class Phase { kStartup, kDrain, kProbe } phase_ = Phase::kStartup;
  std::deque<double> rates_;  // the best of each of the last rounds
  double bandwidth_ = 0;      // packets per second
  double base_ = 1e9;
  double full_ = 0;
  int flat_rounds_ = 0;
  int cycle_ = 2;
  double cycle_began_ = 0;
  double round_lost_ = 0;
  double round_acked_ = 0;
  double highest_ = 1e9;  // limit of packets in flight, set by losses
};

class TcpFlow final : public PathFlow {
 public:
  TcpFlow(SharedPath& path, std::unique_ptr<TcpModel> model)
      : path_(path), model_(std::move(model)) {}

  void start() override { send(); }
  void on_timer() override;
  void on_frame(const PathFrame& frame) override;
  void on_dropped(const PathFrame& frame, Time would_arrive) override;
  double delivered_bytes() override { return delivered_ * kPayload; }
  double window() override { return model_->window(); }

  static constexpr double kPayload = 1408;  // bytes, the same as DLCP's

 private:
  void send();
  void acknowledge(const PathFrame& frame);

  SharedPath& path_;
  std::unique_ptr<TcpModel> model_;
  struct Sent {
    Time at;
    double acked_then = 0;
    Time acked_at;
  };
  std::vector<Sent> sent_;
  double in_flight_ = 0;
  double delivered_ = 0;  // packets
  double acked_ = 0;
  Time last_ack_{};
  double smoothed_ = 1e-3;
  bool heard_ = false;
  bool limited_ = false;
  std::uint64_t round_ends_with_ = 0;
  std::deque<Time> lost_at_;
  Time next_send_{};
  Time card_free_at_{};
  Time wakes_at_ = kNever;
};

}  // namespace dlcp::test
