#include "order/discover/threshold.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "order/discover/clusters.h"

namespace dlcp::order {
namespace {

constexpr double kEvidenceMin = 9.2;   // nats: one in 10,000 random sets looks as grouped
constexpr double kScoreMin = 0.6;      // share of closed wedges, beyond chance
constexpr double kStray = 0.02;        // share of pairs that noise may put on the wrong side
constexpr std::size_t kInsideMin = 4;  // fewer hosts cannot show groups
constexpr std::size_t kStepsMax = 160;
// For few values, without a test: a gap that is wider than the spread on both sides of it.
constexpr double kGapToSpread = 3;
constexpr double kGapRatio = 1.15;
constexpr std::size_t kFewPairs = 66;  // of 12 hosts

// Pairs within a threshold as a graph, with the statistics of its wedges (two edges at one host).
struct Census {
  double edges = 0, pairs = 0;
  double closed = 0, open = 0;                    // wedges; a triangle has three closed ones
  double expected_open = 0, expected_closed = 0;  // for the same number of random edges

  void add(const Distances& sample, double threshold);
  double score() const {
    const double density = edges / pairs;
    if (density >= 1) return 0;
    const double wedges = closed + open;
    return wedges == 0 ? 1 : (closed / wedges - density) / (1 - density);
  }
  double evidence() const;  // nats against chance; 0 if the pairs do not look like groups
};

void Census::add(const Distances& sample, double threshold) {
  const std::size_t n = sample.hosts();
  const std::size_t words = (n + 63) / 64;
  std::vector<std::uint64_t> rows(n * words);
  double here = 0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (a == b || !(sample(a, b) <= threshold)) continue;
      rows[a * words + b / 64] |= std::uint64_t{1} << (b % 64);
      here += a < b;
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    double degree = 0;
    for (std::size_t w = 0; w < words; ++w)
      degree += std::popcount(rows[a * words + w]);
    double closed_at = 0;
    for (std::size_t b = 0; b < n; ++b) {
      if ((rows[a * words + b / 64] >> (b % 64) & 1) == 0) continue;
      for (std::size_t w = 0; w < words; ++w)
        closed_at += std::popcount(rows[a * words + w] & rows[b * words + w]);
    }
    closed += closed_at / 2;
    open += degree * (degree - 1) / 2 - closed_at / 2;
  }
  const auto hosts = static_cast<double>(n);
  const double all = hosts * (hosts - 1) / 2;
  const double density = all > 0 ? here / all : 0;
  const double wedges = hosts * (hosts - 1) * (hosts - 2) / 2 * density * density;
  expected_closed += wedges * density;
  expected_open += wedges * (1 - density);
  edges += here;
  pairs += all;
}

// The improbability, in nats, of such a count of a Poisson variable with that mean (Chernoff's
// bound).
double surprise(double count, double mean) {
  if (mean <= 0) return 0;
  return count > 0 ? mean - count + count * std::log(count / mean) : mean;
}

double Census::evidence() const {
  double found = 0;
  if (open < expected_open) found = surprise(open, expected_open);
  if (closed > expected_closed) found = std::max(found, surprise(closed / 3, expected_closed / 3));
  return score() >= kScoreMin ? found : 0;
}

// With few hosts chance explains much; then only an obvious gap decides.
std::optional<double> obvious_gap(const Distances& sample) {
  const std::vector<double> values = sample.sorted();
  if (values.size() > kFewPairs) return std::nullopt;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    const double gap = values[i + 1] - values[i];
    const double spread = std::max(values[i] - values.front(), values.back() - values[i + 1]);
    if (gap < kGapToSpread * spread || values[i + 1] < kGapRatio * values[i]) continue;
    Census census;
    census.add(sample, values[i]);
    if (census.open == 0) return values[i];
  }
  return std::nullopt;
}

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(at));
  return values[at];
}

// A threshold between the distances inside the groups and those between groups, above the first
// pair that did not fit.
double centred(std::span<const Distances> samples, double threshold) {
  std::vector<double> inside, outside;
  for (const Distances& sample : samples) {
    const auto label = cluster(sample, threshold);
    for (std::size_t a = 0; a < label.size(); ++a) {
      for (std::size_t b = a + 1; b < label.size(); ++b)
        if (!std::isnan(sample(a, b)))
          (label[a] == label[b] ? inside : outside).push_back(sample(a, b));
    }
  }
  if (inside.empty() || outside.empty()) return threshold;
  const double near = quantile(std::move(inside), 1 - kStray);
  const double far = quantile(std::move(outside), kStray);
  return far > near ? (near + far) / 2 : threshold;
}

// The threshold that is least probable by chance.
std::optional<double> most_evident(std::span<const Distances> samples) {
  std::vector<double> values;
  for (const Distances& sample : samples) {
    const auto some = sample.sorted();
    values.insert(values.end(), some.begin(), some.end());
  }
  std::ranges::sort(values);
  std::optional<double> best;
  double most = kEvidenceMin;
  for (std::size_t step = 1; step < kStepsMax && values.size() > 1; ++step) {
    // Finer at short distances, as pairs within leaves are a small part of all pairs.
    const double share = std::pow(static_cast<double>(step) / kStepsMax, 2);
    const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
    const double threshold = (values[at] + values[at + 1]) / 2;
    Census census;
    for (const Distances& sample : samples)
      census.add(sample, threshold);
    const double evidence = census.evidence();
    if (evidence < most) continue;
    most = evidence;
    best = threshold;
  }
  if (!best && samples.size() == 1) best = obvious_gap(samples.front());
  return best;
}

// The groups that result from a threshold, each as a separate sample.
std::vector<Distances> groups_within(std::span<const Distances> samples, double threshold) {
  std::vector<Distances> groups;
  for (const Distances& sample : samples) {
    const auto label = cluster(sample, threshold);
    std::vector<std::vector<std::size_t>> members;
    for (std::size_t host = 0; host < label.size(); ++host) {
      const auto number = static_cast<std::size_t>(label[host]);
      if (number >= members.size()) members.resize(number + 1);
      members[number].push_back(host);
    }
    for (const auto& hosts : members) {
      if (hosts.size() < kInsideMin) continue;
      groups.emplace_back(hosts.size());
      for (std::size_t i = 0; i < hosts.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          groups.back().set(i, j, sample(hosts[i], hosts[j]));
    }
  }
  return groups;
}

}  // namespace

std::vector<double> Distances::sorted() const {
  std::vector<double> values;
  for (std::size_t a = 0; a < hosts_; ++a) {
    for (std::size_t b = a + 1; b < hosts_; ++b)
      if (!std::isnan((*this)(a, b))) values.push_back((*this)(a, b));
  }
  std::ranges::sort(values);
  return values;
}

std::optional<double> find_threshold(std::span<const Distances> samples) {
  const auto found = most_evident(samples);
  if (!found) return std::nullopt;
  const double threshold = centred(samples, *found);
  // The least probable threshold may separate groups of groups.
  const auto groups = groups_within(samples, threshold);
  const auto largest = [](const auto& some) {
    return std::ranges::max(some, {}, &Distances::hosts).hosts();
  };
  const bool smaller = !groups.empty() && largest(groups) < largest(samples);
  const auto finer = smaller ? find_threshold(groups) : std::nullopt;
  return finer && *finer < threshold ? finer : threshold;
}

}  // namespace dlcp::order
