#include "core/paths/path_set.h"

#include <algorithm>
#include <cmath>

#include "util/check.h"

namespace dlcp::core {
namespace {

constexpr double kDelayGain = 0.25;
constexpr double kLossGain = 1.0 / 32;
constexpr double kLossPenalty = 20;  // a path that loses 5% scores like one of twice the delay
// With two choices both can be on the same slow link: of 32 paths over four links in 1/16 of the
// cases, which is more traffic than a link at a tenth of its rate can carry. Further choices reduce
// this.
constexpr int kFurtherChoices = 2;
constexpr int kSlow = 2;  // times the typical delay
constexpr std::uint32_t kBlackHoleLosses = 3;
constexpr Duration kFirstPause = 10ms;
constexpr Duration kLongestPause = 10s;
// At most one burst in this many is a trial, so that a small window is not spent on trials.
constexpr unsigned kTrialEvery = 4;

}  // namespace

PathSet::PathSet(const Flight& flight, std::uint64_t seed)
    : flight_(flight), paths_(flight.paths()), rng_(seed) {}

double PathSet::score(std::size_t index, Duration packet_time) const {
  const Path& path = paths_[index];
  const auto outstanding = flight_.unreported(static_cast<wire::PathIndex>(index));
  const double queued = static_cast<double>(outstanding) * static_cast<double>(packet_time.count());
  // An unknown path gets the typical delay: it is neither better nor worse than the others, until
  // it loses something.
  const Duration delay = path.delay == Duration::zero() ? typical_delay_ : path.delay;
  const double suspicion = 1 + kLossPenalty * path.loss + path.lost_in_row;
  return (static_cast<double>(delay.count()) + queued) * suspicion;
}

// If all of these are doubted, any other. If all paths are doubted, one that is not avoided.
std::size_t PathSet::random_healthy(Among among) {
  const bool all_doubted = doubted_ == paths_.size();
  const auto passed_over = [&](const Path& path) {
    return all_doubted ? path.avoided : path.lost_in_row > 0;
  };
  if (!among.empty()) {
    const std::size_t first = rng_.below(among.size());
    for (std::size_t i = 0; i < among.size(); ++i) {
      const std::size_t index = among[(first + i) % among.size()];
      if (!passed_over(paths_[index])) return index;
    }
  }
  std::size_t index = rng_.below(paths_.size());
  for (std::size_t step = 0; step < paths_.size() && passed_over(paths_[index]); ++step)
    index = index + 1 == paths_.size() ? 0 : index + 1;
  return index;
}

// If none of the paths that delivered last is healthy, any healthy one.
std::size_t PathSet::random_proven() {
  const std::size_t known = std::min(reports_, proven_.size());
  if (known == 0) return random_healthy();
  const std::size_t first = rng_.below(known);
  for (std::size_t i = 0; i < known; ++i) {
    const std::size_t index = proven_[(first + i) % known];
    if (paths_[index].lost_in_row == 0) return index;
  }
  return random_healthy();
}

// If all paths are doubted, the others are used like healthy ones, and only avoided ones are tried.
std::optional<PathSet::Choice> PathSet::choose_to_try(Time now, Among among) {
  const bool all_doubted = doubted_ == paths_.size();
  if (doubted_ == 0 || (!all_doubted && ++since_trial_ < kTrialEvery)) return std::nullopt;
  Path* first = nullptr;
  for (Path& path : paths_) {
    const auto index = static_cast<wire::PathIndex>(&path - paths_.data());
    const bool may_be_tried = (all_doubted ? path.avoided : path.lost_in_row > 0) &&
                              (among.empty() || std::ranges::find(among, index) != among.end());
    if (may_be_tried && (first == nullptr || path.try_again_at < first->try_again_at))
      first = &path;
  }
  if (first == nullptr || (first->try_again_at > now && avoided_ < paths_.size()))
    return std::nullopt;
  if (first->avoided) first->pause = std::min(first->pause * 2, kLongestPause);
  first->try_again_at = now + first->pause;
  since_trial_ = 0;
  return Choice{static_cast<wire::PathIndex>(first - paths_.data()), 1};
}

PathSet::Choice PathSet::choose(Time now, Duration packet_time, Cargo cargo, Among among) {
  const bool all_avoided = avoided_ == paths_.size();
  // A repair avoids trials, because its second loss delays the message further.
  const bool repair = cargo == Cargo::kRepair && !all_avoided;
  if (!repair)
    if (const auto trial = choose_to_try(now, among)) return *trial;
  const auto better = [&](std::size_t one, std::size_t other) {
    return score(one, packet_time) < score(other, packet_time) ? one : other;
  };
  const auto draw = [&] { return repair ? random_proven() : random_healthy(among); };
  std::size_t best = draw();  // not as an argument: compilers evaluate arguments in any order
  best = better(best, draw());
  for (int i = 0; !repair && i < kFurtherChoices && paths_[best].delay > kSlow * typical_delay_;
       ++i)
    best = better(draw(), best);
  return {static_cast<std::uint8_t>(best)};
}

std::uint8_t PathSet::choose_for_probe() {
  turn_ = (turn_ + 1) % paths_.size();
  return static_cast<std::uint8_t>(turn_);
}

void PathSet::on_delivered(std::uint8_t index, std::uint64_t packets, Duration delay) {
  Path& path = paths_[index];
  proven_[reports_++ % proven_.size()] = index;
  path.loss *= std::pow(1 - kLossGain, std::min(packets, std::uint64_t{256}));
  restore(path);
  for (Duration* smoothed : {&typical_delay_, &path.delay})
    if (*smoothed == Duration::zero())
      *smoothed = delay;
    else
      *smoothed += std::chrono::duration_cast<Duration>((delay - *smoothed) * kDelayGain);
}

void PathSet::restore(Path& path) {
  if (path.lost_in_row > 0) --doubted_;
  path.lost_in_row = 0;
  path.pause = Duration::zero();
  if (!path.avoided) return;
  path.avoided = false;
  check(avoided_ > 0, "an avoided path must have been counted");
  --avoided_;
}

void PathSet::on_answered(std::uint8_t index) {
  if (index >= paths_.size()) return;
  restore(paths_[index]);
  proven_[reports_++ % proven_.size()] = index;  // retransmissions find it
}

PathSet::Suspicion PathSet::on_lost(Time now, std::uint8_t index, Time sent_at, Duration round_trip,
                                    bool overtaken) {
  Path& path = paths_[index];
  path.loss += (1 - path.loss) * kLossGain;
  if (overtaken) return {};
  if (path.lost_in_row++ == 0) {
    ++doubted_;
    path.first_lost_sent_at = sent_at;
    path.pause = round_trip;
    path.try_again_at = now;
  }
  // One full queue can drop a whole burst; only a dead path also drops the next one.
  const bool several_bursts = sent_at > path.first_lost_sent_at;
  if (path.avoided || path.lost_in_row < kBlackHoleLosses || !several_bursts)
    return {.known = several_bursts};
  path.avoided = true;
  ++avoided_;
  path.pause = std::max({path.pause, kFirstPause, 4 * round_trip});
  path.try_again_at = now + path.pause;
  return {.known = true, .avoided = true};
}

PathState PathSet::state(wire::PathIndex index) const {
  const Path& path = paths_[index];
  PathState state;
  state.path = index;
  state.sent = static_cast<std::uint32_t>(flight_.next_number(index));
  state.loss = path.loss;
  state.delay = path.delay;
  state.avoided = path.avoided;
  return state;
}

}  // namespace dlcp::core
