#include "core/congestion/queue/queue_congestion.h"

#include <algorithm>
#include <cmath>

namespace dlcp::core {
namespace {

constexpr double kWindowFirst = 16;

// The target queueing delay: a share of the base delay, so that one rule serves 10 us and 100 ms,
// and more for small windows, which thus gain rate from large ones. Windows far above kWindowLarge
// have the same target.
constexpr double kBaseShare = 0.12;
constexpr double kSmallGain = 0.4;  // per halving of the window
constexpr double kWindowLarge = 1024;
// A sender may have this many of its own packets in the queue, whatever the delay. If the
// transmission of a packet takes longer than the path's delay, no shorter queue is possible, and a
// sender that aims at one starves next to others. A sender with hardly any packets in the queue
// does not cut either.
constexpr double kOwnPackets = 6;
// The emptiest of sixteen rounds looks emptier than it was, and the present round may look fuller:
// this many mean steps between rounds do not count as queue.
constexpr double kVagueGain = 2.5;
// Jitter raises the mean by at most this many spreads. Independent jitter raises it by one. If
// packets keep their order and wait for each other, it is more, depending on their number.
constexpr double kSpreads = 3;

// The queue, and its cause, can be judged only if jitter is at most twice that of hosts, or this
// share of the base delay.
constexpr double kBelievableShare = 0.125;

// A cut empties the queue and a quarter more, so that all senders measure the empty path.
constexpr double kCutGain = 1.25;
constexpr double kCutLeast = 0.1;
constexpr int kRestRounds = 2;  // until the effect of a cut is measured
// Marks count if the round's mean shows this share of the target queue, or if this share of the
// packets is marked. Packets on different paths meet at some port all the time and are marked
// there, while other ports have room.
constexpr double kMarkedQueue = 0.1;
constexpr double kMarkedShare = 6;  // divided by the square root of the window; 0.75 of 64 packets
constexpr double kMarkedAlways = 0.98;

// Growth per round: three packets, whatever the window, because only equal growth makes windows
// equal; and a sixteenth of the distance to the window before the last cut. If there was no cut for
// a few rounds longer than usual among equal flows, a share of the window is added, for windows of
// many thousand packets.
constexpr double kGrowth = 3;
constexpr double kGrowthBack = 1.0 / 16;
constexpr double kGrowthMost = 0.25;  // of the window
constexpr double kRoomQueue = 2;      // the share reaches 0 at half of the target
constexpr double kCalmRounds = 8;     // the share begins to grow from 0
constexpr double kCalmRoundsMost = 40;
// Next to a competing flow in a short buffer: the growth of Reno for a window that losses halve,
// less the advantage of not cutting for each loss. An empty path is filled at the normal rate,
// which harms no other flow.
constexpr double kRenoGrowth = 0.53;
constexpr double kRenoQueue = 4;  // from a quarter of the target on, the path is not empty

// A queue that stays for this many rounds, although the window was reduced to this share, is not
// caused by this sender: the path has become longer.
constexpr int kStandingRounds = 12;
constexpr double kStandingWindow = 0.25;
// A cut makes the queue fall below the target for a round, so the queue counts as gone only at half
// of the target. Smaller windows, of many equal flows, need not meet this condition.
constexpr double kStandingWindowLeast = 16;

}  // namespace

QueueCongestion::QueueCongestion(Duration target_delay)
    : target_least_(ns(target_delay > Duration::zero() ? target_delay : kQueueTarget)),
      window_(kWindowFirst) {}

void QueueCongestion::on_delay(Time now, Duration delay, Duration answer) {
  base_.add(now, delay, round_trip_);
  delays_.least = delays_.samples == 0 ? delay : std::min(delays_.least, delay);
  delays_.sum += delay;
  const Duration wait = answers_.wait_of(answer);
  delays_.wait_sum += wait;
  // These packets are delivered already and not part of the queue towards the receiver.
  const double interval = delivered_.interval();
  answers_waiting_ = interval > 0 ? ns(wait) / interval : 0;
  ++delays_.samples;
}

void QueueCongestion::on_ack(const AckSample& sample) {
  round_.add(sample);
  round_trip_ = sample.round_trip;
  const bool reported = sample.acked + sample.lost + sample.forgone > 0;
  if (reported) has_reports_ = true;
  // The first round trip is an upper bound, and one during a pause of the path is too long.
  round_ends_ = std::min(round_ends_, sample.now + round_trip_);
  if (sample.now < round_ends_ || !has_reports_) return;
  has_reports_ = false;
  round_ends_ = sample.now + round_trip_;
  judge_queue();
  finish_round();
  round_ = {};
  delays_ = {};
}

void QueueCongestion::judge_queue() {
  queue_ = 0;
  if (delays_.samples == 0) return;
  const Duration mean = delays_.mean();
  spread_.add(delays_.samples, delays_.sum, delays_.least);
  // Bursts of other senders look like jitter.
  const Duration spread = std::min(spread_.value(), std::max(base_.value(), kHostJitter));
  vagueness_ = ns(std::min(spread * 3 / 4, noise_.value()));
  // The limit for the quiet delay: jitter does not raise the mean further above the base delay, and
  // a queue that has stood from the beginning must not count as base.
  const double highest = ns(base_.value()) + kSpreads * ns(spread);
  const Duration quiet = std::min(quiet_.value(), mean);
  queue_ = std::max(0.0, ns(mean - delays_.mean_wait()) - std::min(ns(quiet), highest));
  // As long as the spread is unknown, queue and jitter cannot be distinguished.
  if (!spread_.known()) queue_ = 0;
  // If a pause of a host has raised the mean, some sample shows that the queue is shorter.
  queue_ = std::clamp(ns(delays_.least - base_.value()), 0.0, queue_);
  noise_.add(mean);
  quiet_.add(mean);
  answers_.end_round();
}

double QueueCongestion::aim() const {
  return std::max(target_least_, kBaseShare * ns(base_.value()));
}

double QueueCongestion::target(double window) const {
  const double halvings = std::log2(1 + kWindowLarge / window);
  // By Little's law, a queue of this delay holds kOwnPackets packets of this sender.
  const double own = kOwnPackets * delivered_.interval();
  return std::max(aim() * (1 + kSmallGain * halvings), own) + kVagueGain * vagueness_;
}

void QueueCongestion::finish_round() {
  delivered_.add(round_.now, round_.acked);
  watch_marks();
  ++rounds_since_cut_;
  if (const auto before = losses_.end_round(round_)) {
    window_ = std::max(window_, before->window);
    slow_start_ = before->slow_start;
  }
  buffer_rival_.end_round(round_, delays_.mean(), base_.value(), window_, believable());
  watch_standing_queue();
  queued_rounds_ = queue_ > target(window_) ? queued_rounds_ + 1 : 0;
  if (resting_ > 0)
    --resting_;
  else
    decide();
  if (round_.forgone > 0 && round_.limited) cap_by_delivery();
  window_ = std::clamp(window_, kWindowMin, kWindowMax);
}

void QueueCongestion::decide() {
  // A pause of a host looks like a queue for one round. If the window does not limit the sender, a
  // queue must last for two.
  if (queued_rounds_ > (round_.limited ? 0 : 1)) {
    on_queue();
  } else if (marks_count()) {
    cut(marked_cut());
  } else if (buffer_rival_.present() && buffer_rival_.dropped()) {
    cut(kCutMost);
    losses_.clear();
    resting_ = 1;
  } else if (losses_.exceed()) {
    window_ *= 1 - losses_.cut({window_, slow_start_});
    slow_start_ = false;
    rounds_since_cut_ = 0;
    resting_ = 1;
  } else if (queued_rounds_ == 0 && round_.limited) {
    grow();
  }
}

// Some switches and middleboxes mark every packet. If nearly all are marked although marks have cut
// the window to its minimum and no queue is visible, marks tell nothing, until a round has fewer.
void QueueCongestion::watch_marks() {
  const double marks = round_.acked == 0 ? 0 : std::min(1.0, round_.marked / round_.acked);
  mark_share_ += (marks - mark_share_) / 16;
  const bool tells_nothing =
      window_ <= kWindowMin && mark_share_ > kMarkedAlways && queue_ < kMarkedQueue * aim();
  marks_all_ = marks > kMarkedAlways && (marks_all_ || tells_nothing);
}

bool QueueCongestion::marks_count() const {
  const double many = std::min(1.0, kMarkedShare / std::sqrt(window_));
  // The window may be small because the receiver serves others first; it is then not cut, so that
  // the sender starts from it when its turn comes.
  return round_.marked > 0 && (round_.limited || window_ > kWindowSmall) &&
         ((!marks_all_ && round_.marked >= many * round_.acked) ||
          queue_ >= kMarkedQueue * target(window_));
}

// DCTCP's cut, but no more than empties the queue: if other flows cause the queue and ignore marks,
// repeated cuts would leave the path to them.
double QueueCongestion::marked_cut() const {
  const double whole = mark_share_ / 2;
  if (delays_.samples == 0) return whole;
  return std::min(whole, std::max(kCutLeast / 2, kCutGain * queue_ / ns(delays_.mean())));
}

bool QueueCongestion::believable() const {
  return ns(spread_.value()) <= std::max(ns(2 * kHostJitter), kBelievableShare * ns(base_.value()));
}

bool QueueCongestion::stands() const {
  return standing_rounds_ > kStandingRounds && window_ <= kStandingWindow * standing_window_;
}

void QueueCongestion::on_queue() {
  if (stands()) {
    rebase();
    return;
  }
  window_before_cut_ = window_;
  // The packets in flight fill the mean round trip, including its jitter.
  const double share = queue_ / ns(delays_.mean());
  cut(std::clamp(kCutGain * share, kCutLeast, kCutMost));
  resting_ = kRestRounds;
}

void QueueCongestion::grow() {
  if (window_ >= delivered_.usable_window()) return;
  if (losses_.exceed_budget()) {
    window_ += 1;
    return;
  }
  if (slow_start_) {
    slow_start_ = queue_ <= target(window_) / 2;
    window_ += round_.acked;
    return;
  }
  if (buffer_rival_.present()) {
    const double empty = std::clamp(1 - kRenoQueue * queue_ / target(window_), 0.0, 1.0);
    window_ += kRenoGrowth + (kGrowth - kRenoGrowth) * empty;
    return;
  }
  const double calm = (rounds_since_cut_ - kCalmRounds) / (kCalmRoundsMost - kCalmRounds);
  const double most = kGrowthMost * window_;
  // The share of the window becomes smaller towards the target, which must not be exceeded.
  const double room =
      believable() ? std::clamp(1 - kRoomQueue * queue_ / target(window_), 0.0, 1.0) : 1;
  const double back = kGrowthBack * std::max(0.0, window_before_cut_ - window_);
  window_ += std::min(std::max(back + kGrowth, room * std::clamp(calm, 0.0, 1.0) * most), most);
}

void QueueCongestion::watch_standing_queue() {
  const double level = target(window_);
  const bool told = window_ >= kStandingWindowLeast && believable();
  if (queue_ > level) {
    if (standing_rounds_++ == 0) standing_window_ = window_;
  } else if (told ? queue_ <= level / 2 : resting_ == 0) {
    standing_rounds_ = 0;
  }
}

void QueueCongestion::rebase() {
  standing_rounds_ = 0;
  base_.restart(delays_.least);
  quiet_.restart();
  window_ = standing_window_;
  slow_start_ = true;  // if the path has become longer, it has room
}

void QueueCongestion::cap_by_delivery() {
  window_ = std::min(window_, delivered_.lossy_window());
}

void QueueCongestion::cut(double share) {
  slow_start_ = false;
  window_ *= 1 - share;
  rounds_since_cut_ = 0;
  losses_.keep();
}

void QueueCongestion::on_stall(Time) {
  // The packets in flight are lost: start with a small window and grow fast.
  window_ = std::min(window_, kWindowSmall);
  answers_waiting_ = 0;
  slow_start_ = true;
  resting_ = 0;
  losses_.keep();
}

}  // namespace dlcp::core
