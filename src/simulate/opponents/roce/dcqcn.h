// DCQCN's sender (Zhu and others, SIGCOMM 2015): its rate falls with the frequency of mark reports,
// and rises with a timer and with the bytes sent. No timer events are needed: the state is brought
// up to date when it is read.
#pragma once

#include <algorithm>

#include "util/time.h"

namespace dlcp::simulate {

struct DcqcnConfig {
  Duration cnp_gap{50'000};  // least interval between a receiver's mark reports
  Duration period{55'000};   // of the timers of alpha and of the rate
  double gain = 1.0 / 256;
  double counter_bytes = 10e6;
  int fast_stages = 5;
  double add_share = 0.001;  // of the line rate, a step of additive increase (40 of 40,000 Mbit/s)
  double hyper_share = 0.01;
  double least_share = 0.001;
};

class DcqcnRate {
 public:
  DcqcnRate(const DcqcnConfig& config, double line) : config_(&config), line_(line) {
    target_ = rate_ = line;
  }

  double rate(Time now) {
    catch_up(now);
    return rate_;
  }
  double alpha() const { return alpha_; }

  void on_sent(Time now, double bytes) {
    catch_up(now);
    bytes_ += bytes;
    if (bytes_ < config_->counter_bytes || !fell_) return;
    bytes_ = 0;
    ++counter_stages_;
    climb();
  }

  // The receiver has reported marks.
  void on_marks(Time now) {
    catch_up(now);
    target_ = rate_;
    rate_ = std::max(rate_ * (1 - alpha_ / 2), config_->least_share * line_);
    alpha_ = (1 - config_->gain) * alpha_ + config_->gain;
    timer_stages_ = counter_stages_ = 0;
    bytes_ = 0;
    fell_ = true;
    turns_at_ = now + config_->period;
  }

 private:
  void catch_up(Time now) {
    if (!fell_) return;
    while (now >= turns_at_) {
      turns_at_ += config_->period;
      alpha_ *= 1 - config_->gain;
      ++timer_stages_;
      climb();
      if (rate_ < line_ || target_ < line_) continue;
      // The rate is at its maximum; only alpha still decays.
      const auto rest = (now - turns_at_) / config_->period;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(rest, 4096); ++i)
        alpha_ *= 1 - config_->gain;
      turns_at_ += config_->period * rest;
    }
  }

  void climb() {
    const int most = std::max(timer_stages_, counter_stages_);
    const int least = std::min(timer_stages_, counter_stages_);
    if (least > config_->fast_stages)
      target_ += config_->hyper_share * line_ * (least - config_->fast_stages);
    else if (most > config_->fast_stages)
      target_ += config_->add_share * line_;
    target_ = std::min(target_, line_);
    rate_ = (rate_ + target_) / 2;
    if (line_ - rate_ < 1e-4 * line_ && target_ == line_) rate_ = line_;
  }

  const DcqcnConfig* config_;
  double line_;
  double rate_ = 0;
  double target_ = 0;
  double alpha_ = 1;
  double bytes_ = 0;
  int timer_stages_ = 0;
  int counter_stages_ = 0;
  bool fell_ = false;
  Time turns_at_{};
};

}  // namespace dlcp::simulate
