// Where "near" ends and "far" begins among measured distances. Near is an equivalence: whoever is
// near to my neighbour is near to me. So the right threshold is one under which near pairs close
// triangles (or leave none open), far more often than as many pairs drawn by chance would; the
// shape of the distribution alone, which noise distorts, is not asked.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace dlcp::order {

// Distances among a few hosts: symmetric, the diagonal is not looked at, NaN where not known.
class Distances {
 public:
  explicit Distances(std::size_t hosts)
      : hosts_(hosts), values_(hosts * hosts, std::numeric_limits<double>::quiet_NaN()) {}

  std::size_t hosts() const { return hosts_; }
  double operator()(std::size_t a, std::size_t b) const { return values_[a * hosts_ + b]; }
  void set(std::size_t a, std::size_t b, double distance) {
    values_[a * hosts_ + b] = values_[b * hosts_ + a] = distance;
  }
  // All that is known, each pair once, ascending.
  std::vector<double> sorted() const;

 private:
  std::size_t hosts_;
  std::vector<double> values_;
};

// The least threshold (near: at most so far) under which the samples are made of groups, or nothing
// where chance explains them as well. Samples are judged together and must not have been chosen by
// the distances that are in them.
std::optional<double> find_threshold(std::span<const Distances> samples);

}  // namespace dlcp::order
