#include "order/solve/swap_search.h"

#include <algorithm>

#include "util/rng.h"

namespace dlcp::order {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

double eighth_power(double x) {
  const double square = x * x;
  const double fourth = square * square;
  return fourth * fourth;
}

class SwapSearch {
 public:
  SwapSearch(const fabric::Fabric& fabric, std::vector<int> order, const Pattern& pattern)
      : fabric_(fabric),
        order_(std::move(order)),
        messages_(pattern.rounds.front()),
        of_rank_(order_.size()),
        load_(2 * fabric.groups.size()),
        scale_(fabric.groups.size()) {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      of_rank_[at(messages_[i].from)].push_back(i);
      of_rank_[at(messages_[i].to)].push_back(i);
    }
    for (std::size_t g = 0; g < scale_.size(); ++g)
      scale_[g] = fabric.groups[g].uplink_gb_per_s > 0 ? 1 / fabric.groups[g].uplink_gb_per_s : 0;
    for (const Message& message : messages_)
      add(message, 1);
    // Scales utilisations to about one, so that powers do not overflow.
    double most = 0;
    for (std::size_t i = 0; i < load_.size(); ++i)
      most = std::max(most, load_[i] * scale_[i / 2]);
    for (double& scale : scale_)
      scale = most > 0 ? scale / most : scale;
    for (std::size_t i = 0; i < load_.size(); ++i)
      sum_ += eighth_power(load_[i] * scale_[i / 2]);
  }

  // True if the swap reduced the cost; otherwise nothing has changed.
  bool exchange(int a, int b) {
    if (fabric_.group_of[at(order_[at(a)])] == fabric_.group_of[at(order_[at(b)])]) return false;
    const double before = sum_;
    move(a, b);
    if (sum_ < before * (1 - 1e-9)) return true;
    move(a, b);
    sum_ = before;
    return false;
  }

  std::vector<int> take_order() { return std::move(order_); }

 private:
  void move(int a, int b) {
    touch(a, b, -1);
    std::swap(order_[at(a)], order_[at(b)]);
    touch(a, b, 1);
  }

  void touch(int a, int b, double sign) {
    for (const std::size_t i : of_rank_[at(a)])
      add(messages_[i], sign);
    for (const std::size_t i : of_rank_[at(b)])
      if (messages_[i].from != a && messages_[i].to != a) add(messages_[i], sign);
  }

  void add(const Message& message, double sign) {
    int x = fabric_.group_of[at(order_[at(message.from)])];
    int y = fabric_.group_of[at(order_[at(message.to)])];
    while (x != y) {
      if (x > y) {
        change(2 * at(x), message.gb * sign);
        x = fabric_.groups[at(x)].parent;
      } else {
        change(2 * at(y) + 1, message.gb * sign);
        y = fabric_.groups[at(y)].parent;
      }
    }
  }

  void change(std::size_t index, double gb) {
    const double scale = scale_[index / 2];
    sum_ -= eighth_power(load_[index] * scale);
    load_[index] += gb;
    sum_ += eighth_power(load_[index] * scale);
  }

  const fabric::Fabric& fabric_;
  std::vector<int> order_;
  const std::vector<Message>& messages_;
  std::vector<std::vector<std::size_t>> of_rank_;  // messages of the rank, sent or received
  std::vector<double> load_;                       // by group: out, in
  std::vector<double> scale_;                      // by group: factor from load to utilisation
  double sum_ = 0;
};

}  // namespace

std::vector<int> improve_by_swaps(const fabric::Fabric& fabric, std::vector<int> order,
                                  const Pattern& pattern, std::uint64_t seed,
                                  const SwapLimits& limits) {
  const std::size_t n = order.size();
  if (n < 3 || pattern.rounds.empty()) return order;
  SwapSearch search(fabric, std::move(order), pattern);
  Rng random(seed);
  int fruitless = 0;
  for (int i = 0; i < limits.tries && fruitless < limits.fruitless; ++i) {
    const int a = static_cast<int>(random.below(n));
    const int b = static_cast<int>(random.below(n));
    fruitless = search.exchange(a, b) ? 0 : fruitless + 1;
  }
  return search.take_order();
}

}  // namespace dlcp::order
