#include "synth/plan/gathers.h"

#include <algorithm>

namespace dlcp::synth {
namespace {

Schedule shards(std::span<const int> order) {
  Schedule schedule;
  schedule.collective = Collective::kAllGather;
  schedule.ranks = static_cast<int>(order.size());
  schedule.units = schedule.ranks;
  for (const int rank : order)
    schedule.chunks.push_back({rank, 1, rank, -1});  // chunk i belongs to place i
  return schedule;
}

std::vector<int> depths_of(const Tree& tree) {
  std::vector<int> depth(tree.parent.size(), -1);
  for (std::size_t start = 0; start < depth.size(); start++) {
    std::vector<std::size_t> way;
    std::size_t at = start;
    while (depth[at] < 0 && tree.parent[at] >= 0) {
      way.push_back(at);
      at = static_cast<std::size_t>(tree.parent[at]);
    }
    int d = std::max(depth[at], 0);
    depth[at] = d;
    for (; !way.empty(); way.pop_back())
      depth[way.back()] = ++d;
  }
  return depth;
}

int deepest(const std::vector<Tree>& trees) {
  int most = 0;
  for (const Tree& tree : trees) {
    const auto depth = depths_of(tree);
    most = std::max(most, *std::max_element(depth.begin(), depth.end()));
  }
  return most;
}

// In-order binary tree over 0..n-1: the parent of a number has its lowest set bit cleared and the
// next bit set, or only the bit cleared if that number is not below n.
int binary_parent(int node, int n) {
  if (node == 0) return -1;
  int bit = 1;
  while ((node & bit) == 0)
    bit *= 2;
  const int up = (node ^ bit) | (bit * 2);
  return up >= n ? node ^ bit : up;
}

}  // namespace

Schedule gather_by_bruck(std::span<const int> order) {
  Schedule schedule = shards(order);
  const int n = schedule.ranks;
  int step = 0;
  for (int have = 1; have < n; have *= 2, step++) {
    const int sends = std::min(have, n - have);
    for (int place = 0; place < n; place++) {
      const int to = (place - have + n) % n;
      const Range parts[2] = {{place, std::min(sends, n - place)}, {0, place + sends - n}};
      schedule.add(step, order[static_cast<std::size_t>(place)],
                   order[static_cast<std::size_t>(to)], false,
                   std::span(parts, place + sends > n ? 2 : 1));
    }
  }
  return schedule;
}

Schedule gather_by_pat(std::span<const int> order) {
  Schedule schedule = shards(order);
  const int n = schedule.ranks;
  int far = 1;
  while (far * 2 < n)
    far *= 2;
  int step = 0;
  std::vector<Range> chunks;
  for (int distance = far; distance >= 1 && n > 1; distance /= 2, step++) {
    for (int place = 0; place < n; place++) {
      chunks.clear();
      // Chunks that came from farther away, in strides of twice this distance.
      for (int away = 0; away + distance < n; away += 2 * distance)
        chunks.push_back({(place - away + n) % n, 1});
      std::sort(chunks.begin(), chunks.end(),
                [](const Range& a, const Range& b) { return a.first < b.first; });
      schedule.add(step, order[static_cast<std::size_t>(place)],
                   order[static_cast<std::size_t>((place + distance) % n)], false, chunks);
    }
  }
  return schedule;
}

Schedule by_trees(Direction direction, const std::vector<Tree>& trees,
                  const std::vector<Tree>& reducing) {
  Schedule schedule;
  schedule.collective = direction == Direction::kDown ? Collective::kAllGather
                        : direction == Direction::kUp ? Collective::kReduceScatter
                                                      : Collective::kAllReduce;
  schedule.ranks = static_cast<int>(trees.front().parent.size());
  schedule.units = 0;
  struct Edge {
    int step;
    Message message;
    int chunk;
  };
  std::vector<Edge> edges;
  const int up = direction == Direction::kDown ? 0 : deepest(reducing.empty() ? trees : reducing);
  for (std::size_t t = 0; t < trees.size(); t++) {
    const Tree& down = trees[t];
    const Tree& in = reducing.empty() ? down : reducing[t];
    const auto depth_down = depths_of(down), depth_in = depths_of(in);
    const auto root = std::find(down.parent.begin(), down.parent.end(), -1) - down.parent.begin();
    for (std::size_t i = 0; i < down.parent.size(); i++) {
      const int rank = static_cast<int>(i), chunk = static_cast<int>(t);
      if (direction != Direction::kDown && in.parent[i] >= 0)
        edges.push_back({down.release + up - depth_in[i], {0, rank, in.parent[i], true}, chunk});
      if (direction != Direction::kUp && down.parent[i] >= 0)
        edges.push_back(
            {down.release + up + depth_down[i] - 1, {0, down.parent[i], rank, false}, chunk});
    }
    const int owner = static_cast<int>(root);
    schedule.chunks.push_back({schedule.units, down.units,
                               direction == Direction::kDown ? owner : -1,
                               direction == Direction::kUp ? owner : -1});
    schedule.units += down.units;
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.step < b.step; });
  for (const Edge& edge : edges)
    schedule.add(edge.step, edge.message.from, edge.message.to, edge.message.reduce,
                 Range{edge.chunk, 1});
  return schedule;
}

std::vector<Tree> double_binary_tree(std::span<const int> order) {
  const int n = static_cast<int>(order.size());
  std::vector<Tree> trees(2, Tree{1, 0, std::vector<int>(order.size(), -1)});
  const auto rank_at = [&](int place) {
    return place < 0 ? -1 : order[static_cast<std::size_t>(place)];
  };
  for (int place = 0; place < n; place++) {
    trees[0].parent[static_cast<std::size_t>(rank_at(place))] = rank_at(binary_parent(place, n));
    // The second tree is the first mirrored for an even number of ranks, shifted by one for an odd
    // number.
    const int there = n % 2 == 0 ? n - 1 - place : (place - 1 + n) % n;
    const int above = binary_parent(there, n);
    const int back = above < 0 ? -1 : n % 2 == 0 ? n - 1 - above : (above + 1) % n;
    trees[1].parent[static_cast<std::size_t>(rank_at(place))] = rank_at(back);
  }
  return trees;
}

std::vector<Tree> binomial_tree(std::span<const int> order) {
  Tree tree{1, 0, std::vector<int>(order.size(), -1)};
  for (std::size_t place = 1; place < order.size(); place++)
    tree.parent[static_cast<std::size_t>(order[place])] = order[place & (place - 1)];
  return {tree};
}

}  // namespace dlcp::synth
