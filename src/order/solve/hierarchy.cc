#include "order/solve/hierarchy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "order/solve/graphs.h"

namespace dlcp::order {
namespace {

constexpr double kUneven = 1.5;        // farthest over nearest siblings; above it places matter
constexpr std::size_t kWitnesses = 4;  // hosts of a group that represent it

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

// The contiguous parts of a group: its subgroups, and its own hosts as one block.
struct Block {
  int group = -1;  // -1: the hosts directly in the group
  std::vector<int> hosts;
};

class Builder {
 public:
  Builder(const fabric::Fabric& fabric, const std::vector<int>& given, Siblings siblings,
          const Distances* distances)
      : fabric_(fabric), siblings_(siblings), distances_(distances) {
    inside_.resize(fabric.groups.size());
    for (const int host : given)
      for (int g = fabric.group_of[at(host)]; g >= 0; g = fabric.groups[at(g)].parent)
        inside_[at(g)].push_back(host);
  }

  std::vector<int> order_of(int group) const {
    std::vector<Block> blocks = blocks_of(group);
    place(blocks);
    std::vector<int> order;
    for (const Block& block : blocks) {
      const auto hosts = block.group >= 0 ? order_of(block.group) : block.hosts;
      order.insert(order.end(), hosts.begin(), hosts.end());
    }
    return order;
  }

 private:
  // In the given order of their first hosts.
  std::vector<Block> blocks_of(int group) const {
    std::vector<Block> blocks;
    std::vector<std::size_t> of_child(fabric_.groups.size(),
                                      std::numeric_limits<std::size_t>::max());
    for (const int host : inside_[at(group)]) {
      int child = fabric_.group_of[at(host)];
      while (child != group && fabric_.groups[at(child)].parent != group)
        child = fabric_.groups[at(child)].parent;
      std::size_t& index = of_child[at(child)];
      if (index >= blocks.size()) {
        index = blocks.size();
        blocks.push_back({child == group ? -1 : child, {}});
      }
      blocks[index].hosts.push_back(host);
    }
    return blocks;
  }

  void place(std::vector<Block>& blocks) const {
    if (const auto tour = tour_of(blocks)) {
      std::vector<Block> placed;
      for (const int index : *tour)
        placed.push_back(std::move(blocks[at(index)]));
      blocks = std::move(placed);
    } else if (siblings_ == Siblings::kLargestFirst) {
      std::ranges::stable_sort(
          blocks, std::ranges::greater(), [](const Block& block) { return block.hosts.size(); });
    }
  }

  std::optional<std::vector<int>> tour_of(const std::vector<Block>& blocks) const {
    if (distances_ == nullptr || blocks.size() < 4) return std::nullopt;
    const std::size_t n = blocks.size();
    std::vector<double> between(n * n, -1);
    double nearest = std::numeric_limits<double>::infinity(), farthest = 0;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        const double d = between_blocks(blocks[a], blocks[b]);
        if (std::isnan(d)) continue;
        between[a * n + b] = between[b * n + a] = d;
        nearest = std::min(nearest, d);
        farthest = std::max(farthest, d);
      }
    }
    if (farthest < kUneven * nearest) return std::nullopt;
    std::ranges::replace(between, -1, farthest);  // unknown distances count as far
    for (double& d : between)
      d = std::round(1000 * d / farthest);
    return short_tour(static_cast<int>(n), between);
  }

  double between_blocks(const Block& a, const Block& b) const {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < std::min(a.hosts.size(), kWitnesses); ++i) {
      for (const int other : b.hosts) {
        const double d = (*distances_)(at(a.hosts[i]), at(other));
        if (std::isnan(d)) continue;
        sum += d;
        ++count;
      }
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
  }

  const fabric::Fabric& fabric_;
  Siblings siblings_;
  const Distances* distances_;
  std::vector<std::vector<int>> inside_;  // hosts by group, in the given order
};

}  // namespace

std::vector<int> hierarchical(const fabric::Fabric& fabric, const std::vector<int>& given,
                              Siblings siblings, const Distances* distances) {
  return Builder(fabric, given, siblings, distances).order_of(0);
}

}  // namespace dlcp::order
