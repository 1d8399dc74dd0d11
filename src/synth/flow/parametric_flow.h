// The largest x for which a network still carries a demand that grows with x. Exact: capacities are
// integers, and x is a quotient of two integers (Dinkelbach's method over LEMON's preflow).
#pragma once

#include <cstdint>
#include <vector>

namespace dlcp::synth {

class ParametricFlow {
 public:
  explicit ParametricFlow(int nodes) : nodes_(nodes) {}

  void add_link(int from, int to, std::int64_t capacity) {
    arcs_.push_back({from, to, capacity, 0});
    sum_ += capacity;
  }
  // Adds an arc of capacity coefficient * x.
  void add_growing(int from, int to, std::int64_t coefficient) {
    arcs_.push_back({from, to, 0, coefficient});
  }

  // Adds an arc with the total capacity of all links.
  void add_unlimited(int from, int to) { arcs_.push_back({from, to, kUnlimited, 0}); }

  // The supremum of x such that the maximum flow is demand * x. The sum of all links' capacities
  // times demand must stay below 2^62.
  double largest(int source, int sink, std::int64_t demand) const;

 private:
  static constexpr std::int64_t kUnlimited = -1;
  struct Arc {
    int from;
    int to;
    std::int64_t fixed;
    std::int64_t growing;
  };
  struct Cut {
    bool carried;
    std::int64_t fixed;  // capacity of the minimum cut's fixed arcs
    std::int64_t growing;
  };
  Cut cut_at(int source, int sink, std::int64_t demand, std::int64_t numerator,
             std::int64_t denominator) const;

  int nodes_;
  std::int64_t sum_ = 0;
  std::vector<Arc> arcs_;
};

}  // namespace dlcp::synth
