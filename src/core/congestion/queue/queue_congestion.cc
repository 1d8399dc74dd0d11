#include "core/congestion/queue/queue_congestion.h"

#include <algorithm>
#include <cmath>

namespace dlcp::core {
namespace {

constexpr double kWindowFirst = 16;
constexpr double kWindowMin = 0.25;
constexpr double kWindowMax = 131072;  // 190 MB of 1472 bytes: 15 Gbit/s over 100 ms

// The target: a share of the base delay, so that one rule serves 10 us and 100 ms, and more for
// small windows, which then take from large ones. Windows far above kWindowLarge are all the same.
constexpr double kBaseShare = 0.12;
constexpr double kSmallGain = 0.4;  // per halving of the window
constexpr double kWindowLarge = 1024;
// So many packets of its own a sender may have in the queue, however long that takes. Where a
// packet takes longer than the path a shorter queue cannot be had, and who tries starves beside the
// others; and the queue is not cut by those who have hardly anything in it.
constexpr double kOwnPackets = 6;
// The emptiest of sixteen rounds looks emptier than it was, the present one may look fuller: so
// many mean steps between rounds are not queue.
constexpr double kVagueGain = 2.5;
constexpr int kNoiseGain = 8;  // rounds
// A greater spread than the base delay, or this, is not believed: bursts of others look like it.
constexpr Duration kSpreadFree = 50us;
// By so many spreads jitter lifts the mean above the base at most. Independent jitter does by one;
// where packets keep their order and wait for each other, by more, the more of them there are.
constexpr double kSpreads = 3;

// A queue, and whose it is, is believed where jitter is no more than this, or this share of the
// base delay.
constexpr Duration kBelievableSpread = 100us;
constexpr double kBelievableShare = 0.125;

// A cut empties the queue and a quarter of it more, so that all see the empty path.
constexpr double kCutGain = 1.25;
constexpr double kCutLeast = 0.1;
constexpr double kCutMost = 0.5;
constexpr double kCutByLoss = 0.15;  // at least
constexpr double kLossTolerance = 0.02;
constexpr int kRestRounds = 2;  // until what a cut has done is seen
// Marks count where a round's mean shows so much of the target, or so many of its packets carry
// one. Packets that each take a path of their own meet at some port all the time and are marked
// there, while the next port has room.
constexpr double kMarkedQueue = 0.1;
constexpr double kMarkedShare = 0.75;  // of a window of kMarkedWindow; of others by its root
constexpr double kMarkedWindow = 64;
constexpr double kMarkedCutLeast = 0.05;
// A packet or two in flight, as the receiver lets others go first, make no queue: once it is the
// sender's turn it must not have to begin from less.
constexpr double kKeptWindow = 2;

// Growth per round: three packets, whatever the window, as only that makes windows equal; a
// sixteenth of the way back to where the last cut was; and a share of the window once nothing was
// cut for a few rounds more than cuts are apart among equals, for windows of many thousand packets.
constexpr double kGrowth = 3;
constexpr double kGrowthBack = 1.0 / 16;
constexpr double kGrowthMost = 0.25;  // of the window
constexpr double kRoomQueue = 2;      // from half of the target on there is no room for the share
constexpr double kCalmRounds = 8;     // the share begins to grow from nothing
constexpr double kCalmRoundsMost = 40;
// Beside a rival in a short buffer: Reno's rate for a window that losses halve, less what we take
// by not being cut for each loss. A path that is empty is filled at our own rate, which harms
// nobody.
constexpr double kRenoGrowth = 0.53;
constexpr double kRenoCut = 0.5;
constexpr double kRenoQueue = 4;  // of the target a quarter is no empty path any more

// A queue that stands for so many rounds although the window is down to so much of what it was is
// not ours. Again within kRivalRounds: it is somebody's. Where equals share a queue one of them may
// see the like for a while; but such a queue goes up and down by more than this share of it.
constexpr int kStandingRounds = 6;
constexpr int kStandingRoundsMost = 24;  // if it is not steady
constexpr double kStandingWindow = 0.25;
constexpr double kStandingQueue = 0.75;  // left by the last cut
constexpr double kStandingStep = 0.125;  // from round to round
// A cut makes the queue of a weak rival dip below the target for a round. It has gone once it is
// down to half of that; smaller windows, of many equals, are not asked for so much.
constexpr double kStandingWindowLeast = 16;
constexpr std::size_t kRivalRounds = 256;
// Beside a rival half of the window is left out now and then, and after losses, when he is weak: if
// the queue empties then he has gone.
constexpr std::size_t kTestRounds = 64;
constexpr std::size_t kTestRoundsLeast = 8;
constexpr double kTestWindow = 0.5;

}  // namespace

QueueCongestion::QueueCongestion(Duration target_delay)
    : target_least_(ns(target_delay)), noise_(kNoiseGain), window_(kWindowFirst) {}

void QueueCongestion::on_delay(Time now, Duration delay, Duration answer) {
  base_.add(now, delay, round_trip_);
  round_.delay_min = round_.samples == 0 ? delay : std::min(round_.delay_min, delay);
  round_.delay_sum += delay;
  const Duration wait = answers_.wait_of(answer);
  round_.wait_sum += wait;
  // Delivered already, and no part of the queue ahead.
  const double interval = delivered_.interval();
  answers_waiting_ = interval > 0 ? ns(wait) / interval : 0;
  ++round_.samples;
}

void QueueCongestion::on_ack(const AckSample& sample) {
  round_.acked += sample.acked_packets;
  round_.lost += sample.lost_packets;
  round_.lost -= sample.spurious_packets;
  round_.forgone += sample.forgone_packets;
  round_.marked += sample.ce_marks;
  round_.loss_budget = sample.loss_budget;
  round_.limited |= sample.window_limited;
  round_trip_ = sample.round_trip;
  now_ = sample.now;
  const bool news = sample.acked_packets + sample.lost_packets + sample.forgone_packets > 0;
  if (news) heard_ = true;
  if (now_ < round_ends_ || !heard_) return;
  heard_ = false;
  round_ends_ = now_ + round_trip_;
  judge_queue();
  finish_round();
  round_ = CongestionRound{};
}

void QueueCongestion::judge_queue() {
  queue_ = 0;
  if (round_.samples == 0) return;
  const Duration mean = round_.mean();
  spread_.add(round_.samples, round_.delay_sum, round_.delay_min);
  const Duration spread = std::min(spread_.value(), std::max(base_.value(), kSpreadFree));
  vagueness_ = ns(std::min(spread * 3 / 4, noise_.value()));
  // Jitter does not lift the mean further above the base; a queue that was never empty since we
  // look must not pass for it.
  const double highest = ns(base_.value()) + kSpreads * ns(spread);
  const Duration quiet = std::min(quiet_.value(), mean);
  queue_ = std::max(0.0, ns(mean - round_.mean_wait()) - std::min(ns(quiet), highest));
  // Before the spread is known nothing tells a queue from jitter.
  if (!spread_.known()) queue_ = 0;
  // Where a host that pauses has lifted the mean, some sample shows the queue to be shorter.
  queue_ = std::clamp(ns(round_.delay_min - base_.value()), 0.0, queue_);
  noise_.add(mean);
  quiet_.add(mean);
  answers_.end_round();
}

double QueueCongestion::aim() const {
  return std::max(target_least_, kBaseShare * ns(base_.value()));
}

double QueueCongestion::target(double window) const {
  const double halvings = std::log2(1 + kWindowLarge / window);
  // By Little's law a queue of this delay holds as many as kOwnPackets of ours.
  const double own = kOwnPackets * delivered_.interval();
  return std::max(aim() * (1 + kSmallGain * halvings), own) + kVagueGain * vagueness_;
}

void QueueCongestion::finish_round() {
  ++rounds_;
  delivered_.add(now_, round_.acked);
  const double marks = round_.acked == 0 ? 0 : std::min(1.0, round_.marked / round_.acked);
  mark_share_ += (marks - mark_share_) / 16;
  losses_.add(round_.acked, round_.lost + round_.forgone);
  ++rounds_since_cut_;
  buffer_rival_.end_round(round_, base_.value(), window_, believable());
  watch_standing_queue();
  if (competing_)
    compete();
  else if (resting_ > 0)
    --resting_;
  else
    decide();
  if (round_.forgone > 0 && round_.limited) cap_by_delivery();
  window_ = std::clamp(window_, kWindowMin, kWindowMax);
}

void QueueCongestion::decide() {
  // Licensed losses are the switch doing its job; beyond half of what they may be, they are a sign.
  const double half_budget = round_.forgone > 0 ? round_.loss_budget / 2 : kLossTolerance;
  if (queue_ > target(window_)) {
    on_queue();
  } else if (marks_count()) {
    cut(marked_cut());
  } else if (buffer_rival_.present() && buffer_rival_.dropped()) {
    cut(kRenoCut);
    losses_.clear();
    resting_ = 1;
  } else if (losses_.exceeds(std::max(half_budget, kLossTolerance))) {
    cut(std::clamp(losses_.share(), kCutByLoss, kCutMost));
    losses_.clear();
    resting_ = 1;
  } else if (round_.limited) {
    grow(half_budget);
  }
}

bool QueueCongestion::marks_count() const {
  const double many = std::min(1.0, kMarkedShare * std::sqrt(kMarkedWindow / window_));
  return round_.marked > 0 && (round_.limited || window_ > kKeptWindow) &&
         (round_.marked >= many * round_.acked || queue_ >= kMarkedQueue * target(window_));
}

// DCTCP's, and no more than empties the queue: where others make it, and do not heed it, cuts in a
// row would leave them the path.
double QueueCongestion::marked_cut() const {
  const double whole = mark_share_ / 2;
  if (round_.samples == 0) return whole;
  return std::min(whole, std::max(kMarkedCutLeast, kCutGain * queue_ / ns(round_.mean())));
}

bool QueueCongestion::believable() const {
  return ns(spread_.value()) <=
         std::max(ns(kBelievableSpread), kBelievableShare * ns(base_.value()));
}

bool QueueCongestion::stands() const {
  const bool steady =
      queue_ >= kStandingQueue * queue_before_cut_ && ns(noise_.value()) <= kStandingStep * queue_;
  return standing_rounds_ > (steady ? kStandingRounds : kStandingRoundsMost) &&
         window_ <= kStandingWindow * standing_window_;
}

void QueueCongestion::on_queue() {
  if (stands()) {
    rebase();
    return;
  }
  queue_before_cut_ = queue_;
  window_before_cut_ = window_;
  // What is in flight fills the round trip as it is on average, with the jitter in it.
  const double share = queue_ / ns(round_.mean());
  cut(std::clamp(kCutGain * share, kCutLeast, kCutMost));
  resting_ = kRestRounds;
}

void QueueCongestion::grow(double half_budget) {
  if (window_ >= delivered_.usable_window()) return;
  if (round_.forgone > 0 && losses_.share() > half_budget) {
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
  // The share of the window fades out on the way to the target, which it must not overshoot.
  const double room =
      believable() ? std::clamp(1 - kRoomQueue * queue_ / target(window_), 0.0, 1.0) : 1;
  const double back = kGrowthBack * std::max(0.0, window_before_cut_ - window_);
  window_ += std::min(std::max(back + kGrowth, room * std::clamp(calm, 0.0, 1.0) * most), most);
}

void QueueCongestion::watch_standing_queue() {
  const double level = target(window_);
  if (queue_ > level) {
    if (standing_rounds_++ == 0) standing_window_ = window_;
  } else {
    const bool told = window_ >= kStandingWindowLeast && believable();
    if (told ? queue_ <= level / 2 : resting_ == 0) standing_rounds_ = 0;
    if (competing_ && (resting_ > 0 || queue_ <= level / 2)) {
      competing_ = false;
      resting_ = 0;
      rounds_since_cut_ = 0;
    }
  }
  if (!competing_ && rebase_was_wrong()) begin_competing();
}

void QueueCongestion::rebase() {
  if (base_before_ > Duration::zero() && rounds_ - rebased_at_ < kRivalRounds) {
    begin_competing();
    return;
  }
  standing_rounds_ = 0;
  base_before_ = base_.value();
  base_after_ = round_.delay_min;
  rebased_at_ = rounds_;
  base_.restart(base_after_);
  quiet_.restart();
  window_ = standing_window_;
  slow_start_ = true;  // if the path has become longer, it has room
}

// What seemed to be the base delay has become much smaller again: it was a queue that comes and
// goes.
bool QueueCongestion::rebase_was_wrong() const {
  if (base_before_ == Duration::zero() || rounds_ - rebased_at_ >= kRivalRounds) return false;
  const double tolerated = std::max(aim(), ns(spread_.value()));
  return ns(base_.value()) < ns(base_after_) - tolerated;
}

void QueueCongestion::begin_competing() {
  competing_ = true;
  standing_rounds_ = 0;
  resting_ = 0;
  slow_start_ = false;
  tested_at_ = rounds_;
  base_.restart(base_before_);
  base_before_ = Duration::zero();
  quiet_.restart();
  tcp_.begin(now_, std::max(window_, standing_window_));
  window_ = tcp_.packets();
}

void QueueCongestion::compete() {
  const std::size_t untested = rounds_ - tested_at_;
  const bool lost = round_.lost + round_.forgone > 0;
  tcp_.on_round(now_, round_trip_, lost);
  if (resting_ > 0) {
    --resting_;
  } else if (untested > kTestRounds || (lost && untested > kTestRoundsLeast)) {
    resting_ = kRestRounds;
    tested_at_ = rounds_;
  }
  window_ = (resting_ > 0 ? kTestWindow : 1) * tcp_.packets();
}

void QueueCongestion::cap_by_delivery() {
  window_ = std::min(window_, delivered_.lossy_window());
}

void QueueCongestion::cut(double share) {
  slow_start_ = false;
  window_ *= 1 - share;
  rounds_since_cut_ = 0;
}

void QueueCongestion::on_stall(Time) {
  // Whatever was in flight is gone; begin small and find the network's present state quickly.
  window_ = std::min(window_, 2.0);
  answers_waiting_ = 0;
  slow_start_ = true;
  resting_ = 0;
  competing_ = false;
}

}  // namespace dlcp::core
