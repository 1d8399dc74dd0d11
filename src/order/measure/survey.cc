#include "order/measure/survey.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "order/discover/clusters.h"
#include "order/discover/threshold.h"
#include "util/rng.h"
#include "util/statistics/median.h"

namespace dlcp::order {
namespace {

constexpr int kAllPairs = 24;           // up to this number of hosts all pairs are measured
constexpr std::size_t kSample = 32;     // hosts near a pivot, measured among each other
constexpr std::size_t kSamplesMax = 3;  // pivots before a network counts as flat
constexpr std::size_t kJury = 6;
constexpr std::size_t kBeyondMin = 4;     // hosts farther away than any pair in a sample
constexpr std::size_t kFullSample = 256;  // hosts that determine the threshold of a full survey

class Surveyor {
 public:
  Surveyor(const Measurements& known, const SurveyOptions& options)
      : known_(known), options_(options) {}

  Survey run() {
    const int n = known_.hosts();
    open_.resize(static_cast<std::size_t>(n));
    std::iota(open_.begin(), open_.end(), 0);
    if (options_.full || n <= kAllPairs)
      survey_in_full();
    else
      survey_by_pivots();
    result_.leaves_so_far = static_cast<int>(result_.leaves.size());
    if (result_.wanted.empty()) finish();
    return std::move(result_);
  }

 private:
  bool want(int from, int to) {
    if (known_.known(from, to)) return false;
    result_.wanted.push_back({from, to});
    return true;
  }

  // True when all pairs among `hosts` are known.
  bool have_among(const std::vector<int>& hosts) {
    bool all = true;
    for (std::size_t i = 0; i < hosts.size(); ++i)
      for (std::size_t j = i + 1; j < hosts.size(); ++j)
        all &= !want(hosts[i], hosts[j]);
    return all;
  }

  Distances among(const std::vector<int>& hosts) const {
    Distances distances(hosts.size());
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      for (std::size_t j = i + 1; j < hosts.size(); ++j)
        if (const auto d = known_.distance(hosts[i], hosts[j])) distances.set(i, j, *d);
    }
    return distances;
  }

  void drop_silent() {
    std::erase_if(
        open_,
        [&](int host) {
          const bool silent = known_.silent(host);
          if (silent) result_.silent.push_back(host);
          return silent;
        });
  }

  void take_leaf(std::vector<int> leaf) {
    std::ranges::sort(leaf);
    std::erase_if(open_, [&](int host) { return std::ranges::binary_search(leaf, host); });
    result_.leaves.push_back(std::move(leaf));
  }

  void split(const std::vector<int>& hosts, const std::vector<int>& label) {
    std::vector<std::vector<int>> leaves;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const auto number = static_cast<std::size_t>(label[i]);
      if (number >= leaves.size()) leaves.resize(number + 1);
      leaves[number].push_back(hosts[i]);
    }
    for (auto& leaf : leaves)
      take_leaf(std::move(leaf));
  }

  void survey_in_full() {
    if (!have_among(open_)) return;
    drop_silent();
    if (open_.empty()) return;
    const std::vector<int> hosts = open_;
    std::vector<int> some = hosts;
    Rng random(1);
    for (std::size_t i = 0; i < some.size() && some.size() > kFullSample; ++i)
      std::swap(some[i], some[i + random.below(some.size() - i)]);
    some.resize(std::min(some.size(), kFullSample));
    const Distances sample = among(some);
    if (const auto threshold = find_threshold({&sample, 1})) {
      threshold_ = *threshold;
      split(hosts, cluster(among(hosts), threshold_));
    } else {
      take_leaf(hosts);
    }
  }

  // The hosts by distance from the pivot, nearest first, without the pivot; nullopt if some
  // distances are not known yet.
  std::optional<std::vector<int>> neighbours(int pivot) {
    bool all = true;
    for (const int host : open_)
      all &= !want(host, pivot);
    if (!all) return std::nullopt;
    std::vector<std::pair<double, int>> near;
    for (const int host : open_) {
      const auto d = known_.distance(pivot, host);
      if (host != pivot && d) near.emplace_back(*d, host);
    }
    std::ranges::sort(near);
    std::vector<int> hosts;
    for (const auto& [distance, host] : near)
      hosts.push_back(host);
    return hosts;
  }

  void survey_by_pivots() {
    if (!calibrate()) return;
    drop_silent();
    while (!open_.empty()) {
      const int pivot = open_.front();
      const auto near = neighbours(pivot);
      if (!near) return;
      drop_silent();
      if (known_.silent(pivot)) continue;
      auto leaf = judge(pivot, *near);
      if (!leaf) return;
      pivots_.push_back(pivot);
      take_leaf(std::move(*leaf));
    }
    assign_small_leaves();
  }

  // Finds the threshold from hosts near a few pivots. False: more measurements are needed first.
  bool calibrate() {
    std::vector<Distances> samples;
    double farthest = 0;  // within a sample
    const std::vector<int> pivots = calibration_pivots();
    int answering = pivots.front();  // the first pivot that has a sample
    for (const int pivot : pivots) {
      auto near = neighbours(pivot);
      if (!near) return false;
      if (near->empty()) continue;  // a silent host
      if (near->size() > kSample) near->resize(kSample);
      if (!have_among(*near)) return false;
      if (samples.empty()) answering = pivot;
      samples.push_back(among(*near));
      if (const auto threshold = find_threshold(samples)) {
        threshold_ = *threshold;
        return true;
      }
      const auto values = samples.back().sorted();
      if (!values.empty()) farthest = std::max(farthest, values.back());
      if (samples.size() == kSamplesMax) break;
    }
    // The hosts near the pivots form no groups. Either each sample is one leaf, and other hosts are
    // farther from the pivot than the sample's hosts from each other; or the network is one leaf.
    std::size_t beyond = 0;
    for (const int host : open_)
      beyond += known_.distance(answering, host).value_or(0) > farthest;
    threshold_ = beyond >= kBeyondMin ? farthest : INFINITY;
    return true;
  }

  // Spread over the given order; a few more than needed, as some may be silent.
  std::vector<int> calibration_pivots() const {
    std::vector<int> pivots;
    const std::size_t n = open_.size();
    for (std::size_t i = 0; i < 2 * kSamplesMax; ++i)
      pivots.push_back(open_[i * 5 * n / (10 * kSamplesMax + 1) % n]);
    return pivots;
  }

  // The hosts of the pivot's leaf, including the pivot; nullopt if more measurements are needed.
  std::optional<std::vector<int>> judge(int pivot, const std::vector<int>& near) {
    std::vector<int> candidates;
    for (const int host : near)
      if (*known_.distance(pivot, host) <= threshold_) candidates.push_back(host);
    if (std::isinf(threshold_)) {  // flat: hosts that do not answer the pivot may answer others
      candidates = open_;
      return candidates;
    }
    const std::vector<int> jury = first_of(candidates);
    bool all = true;
    for (const int host : candidates)
      for (const int juror : jury)
        all &= !want(host, juror);
    if (!all) return std::nullopt;
    std::vector<int> leaf{pivot};
    for (const int host : candidates)
      if (distance_to(host, jury, pivot) <= threshold_) leaf.push_back(host);
    return leaf;
  }

  // The median of the known distances between a host and others.
  double distance_to(int host, const std::vector<int>& others, int and_to = -1) const {
    std::vector<double> distances;
    for (const int other : others) {
      const auto d = other == host ? std::nullopt : known_.distance(host, other);
      if (d) distances.push_back(*d);
    }
    if (const auto d = and_to >= 0 ? known_.distance(host, and_to) : std::nullopt)
      distances.push_back(*d);
    return median(std::move(distances), std::nan(""));
  }

  // Hosts that noise has kept out of their leaf, or that always answer slowly, end up in a small
  // leaf. The hosts of the nearest leaf probe them again.
  void assign_small_leaves() {
    auto& leaves = result_.leaves;
    std::vector<double> sizes;
    for (const auto& leaf : leaves)
      sizes.push_back(static_cast<double>(leaf.size()));
    const double typical = median(sizes);
    std::vector<std::size_t> home(leaves.size(), leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (static_cast<double>(leaves[i].size()) < typical / 2) home[i] = home_of(i, typical / 2);
    if (!result_.wanted.empty()) return;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (home[i] == leaves.size()) continue;
      auto& into = leaves[home[i]];
      into.insert(into.end(), leaves[i].begin(), leaves[i].end());
      std::ranges::sort(into);
      leaves[i].clear();
    }
    std::erase_if(leaves, [](const auto& leaf) { return leaf.empty(); });
  }

  // The index of the leaf of at least `size_min` hosts to which the hosts of a small leaf belong;
  // the number of leaves if there is none.
  std::size_t home_of(std::size_t small, double size_min) {
    const auto& leaves = result_.leaves;
    const auto& hosts = leaves[small];
    std::vector<double> to_others;
    std::size_t nearest = leaves.size();
    double least = INFINITY;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (i == small || static_cast<double>(leaves[i].size()) < size_min) continue;
      const double d = distance_to(pivots_[i], hosts);
      if (std::isnan(d)) continue;
      to_others.push_back(d);
      if (d >= least) continue;
      least = d;
      nearest = i;
    }
    if (nearest == leaves.size()) return nearest;
    const std::vector<int> jury = first_of(leaves[nearest]);
    std::vector<double> distances;
    for (const int host : hosts) {
      for (const int juror : jury)
        want(host, juror);
      distances.push_back(distance_to(host, jury));
    }
    const double there = median(distances);
    if (there <= threshold_) return nearest;
    // A slow host belongs to the leaf if the leaf is nearer than the other leaves by 1.5 times the
    // difference between the threshold and the distances inside the leaf.
    const double inside = distance_to(leaves[nearest].back(), jury);
    const bool nearer =
        to_others.size() > 2 && median(to_others) - there > 1.5 * (threshold_ - inside);
    return nearer ? nearest : leaves.size();
  }

  static std::vector<int> first_of(const std::vector<int>& hosts) {
    return {hosts.begin(),
            hosts.begin() + static_cast<std::ptrdiff_t>(std::min(hosts.size(), kJury))};
  }

  void finish() {
    for (const int host : open_)
      result_.leaves.push_back({host});
    std::ranges::sort(result_.leaves);
    std::ranges::sort(result_.silent);
  }

  const Measurements& known_;
  const SurveyOptions& options_;
  Survey result_;
  std::vector<int> open_;    // in no leaf yet, ascending
  std::vector<int> pivots_;  // by index in result_.leaves
  double threshold_ = 0;
};

}  // namespace

Survey survey(const Measurements& known, const SurveyOptions& options) {
  return Surveyor(known, options).run();
}

}  // namespace dlcp::order
