#include "synth/search/levels.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace dlcp::synth {
namespace {

std::vector<int> heights_of(const Topology& topology) {
  std::vector<int> height(topology.nodes.size(), -1);
  std::vector<int> layer;
  for (int rank = 0; rank < topology.ranks(); rank++) {
    height[static_cast<std::size_t>(rank)] = 0;
    layer.push_back(rank);
  }
  std::vector<std::vector<int>> next_to(topology.nodes.size());
  for (const Link& link : topology.links) {
    next_to[static_cast<std::size_t>(link.from)].push_back(link.to);
    next_to[static_cast<std::size_t>(link.to)].push_back(link.from);
  }
  for (int h = 1; !layer.empty(); h++) {
    std::vector<int> next;
    for (const int node : layer) {
      for (const int other : next_to[static_cast<std::size_t>(node)]) {
        if (height[static_cast<std::size_t>(other)] >= 0) continue;
        height[static_cast<std::size_t>(other)] = h;
        next.push_back(other);
      }
    }
    layer = std::move(next);
  }
  return height;
}

// Numbers the groups in the order of their first rank; groups without ranks become -1.
Partition numbered(const Topology& topology, const std::vector<int>& label) {
  Partition partition;
  std::map<int, int> number;
  for (int rank = 0; rank < topology.ranks(); rank++)
    if (number.try_emplace(label[static_cast<std::size_t>(rank)], partition.groups).second)
      partition.groups++;
  for (const int one : label) {
    const auto found = number.find(one);
    partition.of_node.push_back(one < 0 || found == number.end() ? -1 : found->second);
  }
  return partition;
}

int root_of(std::vector<int>& parent, int node) {
  while (parent[static_cast<std::size_t>(node)] != node) {
    int& above = parent[static_cast<std::size_t>(node)];
    above = parent[static_cast<std::size_t>(above)];
    node = above;
  }
  return node;
}

Partition connected_below(const Topology& topology, const std::vector<int>& height, int most) {
  std::vector<int> parent(topology.nodes.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto low = [&](int node) {
    const int h = height[static_cast<std::size_t>(node)];
    return h >= 0 && h <= most;
  };
  for (const Link& link : topology.links)
    if (low(link.from) && low(link.to))
      parent[static_cast<std::size_t>(root_of(parent, link.from))] = root_of(parent, link.to);
  std::vector<int> label(topology.nodes.size(), -1);
  for (std::size_t node = 0; node < label.size(); node++)
    if (low(static_cast<int>(node))) label[node] = root_of(parent, static_cast<int>(node));
  return numbered(topology, label);
}

}  // namespace

std::vector<Partition> levels_of(const Topology& topology) {
  std::vector<Partition> levels;
  const auto keep = [&](Partition partition) {
    if (partition.groups <= 1 || partition.groups >= topology.ranks()) return;
    if (!levels.empty() && partition.groups >= levels.back().groups) return;
    levels.push_back(std::move(partition));
  };
  const auto first_switch = topology.nodes.begin() + topology.ranks();
  if (std::all_of(topology.nodes.begin(), first_switch,
                  [](const Node& n) { return n.group >= 0; })) {
    std::vector<int> label;
    for (const Node& node : topology.nodes)
      label.push_back(node.group);
    keep(numbered(topology, label));
  }
  const auto height = heights_of(topology);
  const int top = *std::max_element(height.begin(), height.end());
  for (int h = 0; h < top; h++)
    keep(connected_below(topology, height, h));
  return levels;
}

std::vector<int> classes_of(const Topology& topology) {
  using Signature = std::vector<std::vector<double>>;
  std::vector<int> colour;
  for (const Node& node : topology.nodes)
    colour.push_back(node.rank ? 0 : node.multicast ? 2 : 1);
  std::size_t colours = 0;
  for (int round = 0; round < 16; round++) {
    std::vector<Signature> around(topology.nodes.size());
    for (const Link& link : topology.links) {
      const auto from = static_cast<std::size_t>(link.from), to = static_cast<std::size_t>(link.to);
      around[from].push_back({0, static_cast<double>(colour[to]), link.rate, link.latency});
      around[to].push_back({1, static_cast<double>(colour[from]), link.rate, link.latency});
    }
    std::map<std::pair<int, Signature>, int> number;
    std::vector<int> next(colour.size());
    for (std::size_t i = 0; i < colour.size(); i++) {
      std::sort(around[i].begin(), around[i].end());
      next[i] =
          number.try_emplace({colour[i], around[i]}, static_cast<int>(number.size())).first->second;
    }
    colour = std::move(next);
    if (number.size() == colours) break;
    colours = number.size();
  }
  colour.resize(static_cast<std::size_t>(topology.ranks()));
  return colour;
}

std::vector<std::vector<int>> members_of(const Topology& topology, const Partition& partition) {
  std::vector<std::vector<int>> members(static_cast<std::size_t>(partition.groups));
  for (int rank = 0; rank < topology.ranks(); rank++)
    members[static_cast<std::size_t>(partition.of_node[static_cast<std::size_t>(rank)])].push_back(
        rank);
  return members;
}

}  // namespace dlcp::synth
