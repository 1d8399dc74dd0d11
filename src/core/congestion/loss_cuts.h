// When losses reduce the window, by how much, and when such a cut is undone.
// A loss rate above a tolerance is congestion; random loss below it is not. Licensed losses are
// intended drops of switches: there, more than half of what the licences allow is congestion. If
// the receiver reports within a few rounds that the packets of a cut were only late, the cut is
// undone (Eifel, RFC 3522; duplicates as the signal, RFC 3708).
#pragma once

#include <algorithm>
#include <optional>

#include "core/congestion/congestion.h"
#include "core/congestion/queue/loss_window.h"

namespace dlcp::core {

class LossCuts {
 public:
  struct Before {  // the state of the algorithm before a cut
    double window = 0;
    bool slow_start = false;
  };

  // A round has ended. Returns the state to restore if the last cut is undone.
  std::optional<Before> end_round(const AckSample& round) {
    // Late packets are credited to a cut that they may have caused, and only otherwise to losses_.
    losses_.add(round.acked, round.lost + round.forgone - (made_ ? 0 : round.spurious));
    allowed_ = round.forgone > 0 ? std::max(round.loss_budget / 2, kTolerance) : kTolerance;
    exceeds_budget_ = round.forgone > 0 && losses_.share() > round.loss_budget / 2;
    if (!made_) return std::nullopt;
    if (++made_->rounds > kUndoRounds) made_.reset();
    if (!made_ || round.spurious <= 0) return std::nullopt;
    made_->losses.give_back(round.spurious);
    if (made_->losses.exceeds(kTolerance)) return std::nullopt;
    const Before before = made_->before;
    made_.reset();
    return before;
  }
  // The losses require a cut.
  bool exceed() const { return losses_.exceeds(allowed_); }
  // Licensed packets were lost in this round, and more than half of what licences allow.
  bool exceed_budget() const { return exceeds_budget_; }
  // Returns the share by which to cut the window.
  double cut(const Before& before) {
    if (!made_) made_ = Made{.losses = LossWindow(), .before = before};
    made_->losses.join(losses_);
    made_->rounds = 0;
    const double share = std::clamp(losses_.share(), kLeast, kCutMost);
    losses_.clear();
    return share;
  }
  // The losses so far have been answered by a cut of another kind.
  void clear() { losses_.clear(); }
  // The window changes for another reason than losses: the last cut cannot be undone any more.
  void keep() { made_.reset(); }

 private:
  static constexpr double kTolerance = 0.02;  // as BBRv3
  static constexpr double kLeast = 0.15;
  static constexpr int kUndoRounds = 4;  // a duplicate is reported a round after the retransmission

  struct Made {
    LossWindow losses;
    Before before;
    int rounds = 0;  // since the cut
  };
  LossWindow losses_;
  double allowed_ = kTolerance;
  bool exceeds_budget_ = false;
  std::optional<Made> made_;
};

}  // namespace dlcp::core
