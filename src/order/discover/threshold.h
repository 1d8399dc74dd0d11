// The threshold between "near" and "far" among measured distances. Near is an equivalence: a host
// near my neighbour is near me. Therefore the right threshold is one under which near pairs close
// triangles (or leave none open) far more often than the same number of random pairs would. The
// shape of the distribution is not used, because noise distorts it.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace dlcp::order {

// Distances among a few hosts: symmetric, the diagonal is ignored, NaN if not known.
class Distances {
 public:
  explicit Distances(std::size_t hosts)
      : hosts_(hosts), values_(hosts * hosts, std::numeric_limits<double>::quiet_NaN()) {}

  std::size_t hosts() const { return hosts_; }
  double operator()(std::size_t a, std::size_t b) const { return values_[a * hosts_ + b]; }
  void set(std::size_t a, std::size_t b, double distance) {
    values_[a * hosts_ + b] = values_[b * hosts_ + a] = distance;
  }
  // All known distances, each pair once, ascending.
  std::vector<double> sorted() const;

 private:
  std::size_t hosts_;
  std::vector<double> values_;
};

// The smallest threshold (near: at most that distance) under which the samples consist of groups;
// nullopt if chance explains them as well. Samples are judged together, and must not have been
// chosen by the distances that are in them.
std::optional<double> find_threshold(std::span<const Distances> samples);

}  // namespace dlcp::order
