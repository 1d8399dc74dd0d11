#include "order/discover/clusters.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace dlcp::order {
namespace {

constexpr double kFar = 1e300;

class Linkage {
 public:
  explicit Linkage(const Distances& distances)
      : n_(distances.hosts()), mean_(n_ * n_), size_(n_, 1), into_(n_) {
    std::iota(into_.begin(), into_.end(), std::size_t{0});
    for (std::size_t a = 0; a < n_; ++a)
      for (std::size_t b = 0; b < n_; ++b)
        mean_[a * n_ + b] = std::isnan(distances(a, b)) ? kFar : distances(a, b);
  }

  void merge_within(double threshold) {
    for (std::size_t start = 0; start < n_; ++start) {
      // A chain ends with two mutual nearest neighbours; with average linkage merging them is
      // final.
      std::vector<std::size_t> chain{start};
      while (!chain.empty() && size_[start] > 0) {
        const std::size_t top = chain.back();
        const std::size_t near = nearest(top, chain.size() > 1 ? chain[chain.size() - 2] : n_);
        if (near == n_ || mean_[top * n_ + near] > threshold) break;
        if (chain.size() > 1 && near == chain[chain.size() - 2]) {
          merge(near, top);
          chain.resize(chain.size() - 2);
          if (chain.empty() && size_[start] > 0) chain.push_back(start);
        } else {
          chain.push_back(near);
        }
      }
    }
  }

  std::vector<int> labels() {
    std::vector<int> number(n_, -1), label(n_);
    int next = 0;
    for (std::size_t host = 0; host < n_; ++host) {
      std::size_t at = host;
      while (into_[at] != at)
        at = into_[at];
      if (number[at] < 0) number[at] = next++;
      label[host] = number[at];
    }
    return label;
  }

 private:
  // Ties go to the predecessor in the chain, so that chains end.
  std::size_t nearest(std::size_t a, std::size_t previous) const {
    std::size_t best = previous;
    double least =
        previous == n_ ? std::numeric_limits<double>::infinity() : mean_[a * n_ + previous];
    for (std::size_t b = 0; b < n_; ++b) {
      if (b == a || size_[b] == 0 || mean_[a * n_ + b] >= least) continue;
      least = mean_[a * n_ + b];
      best = b;
    }
    return best;
  }

  void merge(std::size_t kept, std::size_t gone) {
    const auto k = static_cast<double>(size_[kept]);
    const auto g = static_cast<double>(size_[gone]);
    for (std::size_t other = 0; other < n_; ++other) {
      const double mean = (k * mean_[kept * n_ + other] + g * mean_[gone * n_ + other]) / (k + g);
      mean_[kept * n_ + other] = mean_[other * n_ + kept] = mean;
    }
    size_[kept] += size_[gone];
    size_[gone] = 0;
    into_[gone] = kept;
  }

  std::size_t n_;
  std::vector<double> mean_;
  std::vector<std::size_t> size_;  // 0: merged into another
  std::vector<std::size_t> into_;
};

}  // namespace

std::vector<int> cluster(const Distances& distances, double threshold) {
  Linkage linkage(distances);
  linkage.merge_within(threshold);
  return linkage.labels();
}

}  // namespace dlcp::order
