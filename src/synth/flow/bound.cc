#include "synth/flow/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <set>

#include "synth/flow/parametric_flow.h"
#include "synth/search/levels.h"

namespace dlcp::synth {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kGroupsTried = 64;  // of one partition; equivalent groups give the same bound

// Bounds of one topology. Each function returns bytes per second of a rank's whole buffer.
class FlowBounds {
 public:
  FlowBounds(const Topology& topology, bool reversed)
      : topology_(topology),
        reversed_(reversed),
        ranks_(topology.ranks()),
        nodes_(static_cast<int>(topology.nodes.size())) {
    for (const Link& link : topology.links)
      unit_ += link.rate;
    unit_ *= static_cast<double>(ranks_) * ranks_ / static_cast<double>(std::int64_t{1} << 58);
  }

  // Every rank has 1/n of the data, and `sink` needs all of it.
  double gather_at(int sink) const {
    ParametricFlow flow = network(1);
    for (int rank = 0; rank < ranks_; rank++)
      flow.add_growing(nodes_, rank, 1);
    return ranks_ * rate(flow.largest(nodes_, sink, ranks_));
  }

  // The data of one side must reach the other.
  double pair(int from, int to) const {
    ParametricFlow flow = network(1);
    flow.add_growing(nodes_, from, 1);
    return rate(flow.largest(nodes_, to, 1));
  }

  // Switches neither copy nor reduce: received data must have been sent by another rank. Every rank
  // receives `ranks - 1` shards (of all data, or one from each other rank, maybe over ranks that
  // relay it).
  double shards(bool from_each) const;
  // Groups of ranks, each treated as one rank: all but one send and all but one receive a whole
  // buffer.
  double sums(const std::vector<int>& of_node, int groups) const;

  // A block from each rank outside `inside` to each rank in it.
  double exchange(const std::vector<bool>& inside) const;

 private:
  ParametricFlow split(const std::vector<int>& of_node) const;
  ParametricFlow network(int extra) const {
    ParametricFlow flow(nodes_ + extra);
    for (const Link& link : topology_.links)
      flow.add_link(reversed_ ? link.to : link.from, reversed_ ? link.from : link.to,
                    units(link.rate));
    return flow;
  }
  std::int64_t units(double rate) const {
    return static_cast<std::int64_t>(std::ceil(rate / unit_));
  }
  double rate(double units) const { return units * unit_; }

  const Topology& topology_;
  bool reversed_;
  int ranks_;
  int nodes_;
  double unit_ = 0;  // bytes per second per unit of capacity: products of sums stay below 2^62
};

// Splits each group into a sending node, after all other nodes, and a receiving node, with the
// group's own number, so that no flow passes through the group. There are at most as many groups as
// ranks, so the switches keep their numbers.
ParametricFlow FlowBounds::split(const std::vector<int>& of_node) const {
  ParametricFlow flow(2 * nodes_ + 3);
  for (const Link& link : topology_.links) {
    const int from = of_node[static_cast<std::size_t>(link.from)],
              to = of_node[static_cast<std::size_t>(link.to)];
    if (from >= 0 && from == to) continue;
    flow.add_link(from >= 0 ? nodes_ + from : link.from, to >= 0 ? to : link.to, units(link.rate));
  }
  return flow;
}

double FlowBounds::shards(bool from_each) const {
  std::vector<int> of_node(static_cast<std::size_t>(nodes_), -1);
  std::iota(of_node.begin(), of_node.begin() + ranks_, 0);
  ParametricFlow flow = split(of_node);
  const int source = 2 * nodes_, sink = source + 1;
  for (int rank = 0; rank < ranks_; rank++) {
    if (from_each || reversed_)
      flow.add_growing(source, nodes_ + rank, ranks_ - 1);
    else
      flow.add_unlimited(source, nodes_ + rank);
    if (from_each || !reversed_)
      flow.add_growing(rank, sink, ranks_ - 1);
    else
      flow.add_unlimited(rank, sink);
    if (from_each) flow.add_unlimited(rank, nodes_ + rank);
  }
  const std::int64_t n = ranks_;
  return ranks_ * rate(flow.largest(source, sink, n * (n - 1)));
}

double FlowBounds::sums(const std::vector<int>& of_node, int groups) const {
  ParametricFlow flow = split(of_node);
  const int source = 2 * nodes_, sink = source + 1, start = source + 2;
  const std::int64_t buffers = 2 * (groups - 1);
  flow.add_growing(source, start, buffers);
  for (int group = 0; group < groups; group++) {
    flow.add_unlimited(start, nodes_ + group);
    flow.add_unlimited(group, sink);
  }
  return rate(flow.largest(source, sink, buffers));
}

double FlowBounds::exchange(const std::vector<bool>& inside) const {
  ParametricFlow flow = network(2);
  const std::int64_t members = std::count(inside.begin(), inside.end(), true);
  const std::int64_t others = ranks_ - members;
  for (int rank = 0; rank < ranks_; rank++)
    if (inside[static_cast<std::size_t>(rank)])
      flow.add_growing(rank, nodes_ + 1, others);
    else
      flow.add_growing(nodes_, rank, members);
  return ranks_ * rate(flow.largest(nodes_, nodes_ + 1, members * others));
}

void lower(Bound& bound, double rate, const std::string& reason) {
  if (rate >= bound.rate) return;
  bound.rate = rate;
  bound.reason = reason;
}

std::vector<int> one_of_each(const std::vector<int>& classes) {
  std::set<int> seen;
  std::vector<int> picked;
  for (std::size_t rank = 0; rank < classes.size(); rank++)
    if (seen.insert(classes[rank]).second) picked.push_back(static_cast<int>(rank));
  return picked;
}

// The longest of the shortest paths, including message costs at ranks that relay.
double farthest(const Topology& topology) {
  std::vector<std::vector<int>> out(topology.nodes.size());
  for (std::size_t i = 0; i < topology.links.size(); i++)
    out[static_cast<std::size_t>(topology.links[i].from)].push_back(static_cast<int>(i));
  double most = 0;
  for (const int start : one_of_each(classes_of(topology))) {
    std::vector<double> at(topology.nodes.size(), kInfinite);
    using Entry = std::pair<double, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    at[static_cast<std::size_t>(start)] = 0;
    open.push({0, start});
    while (!open.empty()) {
      const auto [time, node] = open.top();
      open.pop();
      if (time > at[static_cast<std::size_t>(node)]) continue;
      const double leaves =
          time + (topology.nodes[static_cast<std::size_t>(node)].rank ? topology.message : 0);
      for (const int index : out[static_cast<std::size_t>(node)]) {
        const Link& link = topology.links[static_cast<std::size_t>(index)];
        const double arrives =
            leaves + link.latency +
            (topology.nodes[static_cast<std::size_t>(link.to)].rank ? topology.message : 0);
        if (arrives >= at[static_cast<std::size_t>(link.to)]) continue;
        at[static_cast<std::size_t>(link.to)] = arrives;
        open.push({arrives, link.to});
      }
    }
    most = std::max(most, *std::max_element(at.begin(), at.begin() + topology.ranks()));
  }
  return most;
}

bool has_multicast(const Topology& topology) {
  return std::any_of(
      topology.nodes.begin(), topology.nodes.end(), [](const Node& n) { return n.multicast; });
}

// ReduceScatter is AllGather with all links reversed.
void bound_gather(const Topology& topology, bool reversed, Bound& bound) {
  const FlowBounds flows(topology, reversed);
  for (const int rank : one_of_each(classes_of(topology)))
    lower(bound, flows.gather_at(rank),
          fmt::format("data that {} must {}", topology.rank_name(rank),
                      reversed ? "send" : "receive"));
  if (reversed || !has_multicast(topology))
    lower(bound, flows.shards(false), "data that all ranks together must send and receive");
}

void bound_all_reduce(const Topology& topology, Bound& bound) {
  const FlowBounds flows(topology, false);
  for (const int rank : one_of_each(classes_of(topology))) {
    const int other = rank == 0 ? 1 : 0;
    lower(bound, flows.pair(rank, other),
          fmt::format("data that {} must send", topology.rank_name(rank)));
    lower(bound, flows.pair(other, rank),
          fmt::format("data that {} must receive", topology.rank_name(rank)));
  }
  for (int rank = 1; rank < topology.ranks(); rank++) {
    if (rank >= static_cast<int>(kGroupsTried)) break;
    lower(bound, flows.pair(0, rank), fmt::format("links towards {}", topology.rank_name(rank)));
    lower(bound, flows.pair(rank, 0), fmt::format("links from {}", topology.rank_name(rank)));
  }
  if (has_multicast(topology)) return;
  std::vector<int> alone(topology.nodes.size(), -1);
  std::iota(alone.begin(), alone.begin() + topology.ranks(), 0);
  lower(bound, flows.sums(alone, topology.ranks()), "all partial sums and results together");
  for (const Partition& level : levels_of(topology))
    lower(bound, flows.sums(level.of_node, level.groups),
          fmt::format("sums between {} groups", level.groups));
}

void bound_all_to_all(const Topology& topology, Bound& bound) {
  const FlowBounds there(topology, false);
  const auto try_group = [&](const std::vector<bool>& inside, const std::string& name) {
    std::vector<bool> outside = inside;
    outside.flip();
    lower(bound, there.exchange(inside), fmt::format("data that {} must receive", name));
    lower(bound, there.exchange(outside), fmt::format("data that {} must send", name));
  };
  const auto ranks = static_cast<std::size_t>(topology.ranks());
  for (const int rank : one_of_each(classes_of(topology))) {
    std::vector<bool> inside(ranks);
    inside[static_cast<std::size_t>(rank)] = true;
    try_group(inside, topology.rank_name(rank));
  }
  for (const Partition& level : levels_of(topology)) {
    const auto members = members_of(topology, level);
    for (std::size_t group = 0; group < std::min(members.size(), kGroupsTried); group++) {
      std::vector<bool> inside(ranks);
      for (const int rank : members[group])
        inside[static_cast<std::size_t>(rank)] = true;
      try_group(inside, fmt::format("the group of {}", topology.rank_name(members[group][0])));
    }
  }
  lower(bound, there.shards(true), "all blocks together");
}

}  // namespace

double Bound::seconds(double bytes) const {
  return std::max(bytes / rate, latency);
}

Bound bound_of(const Topology& topology, Collective collective) {
  Bound bound{kInfinite, 0, "a single rank has nothing to send"};
  if (topology.ranks() < 2) return bound;
  bound.latency = farthest(topology);
  switch (collective) {
    case Collective::kAllReduce:
      bound_all_reduce(topology, bound);
      break;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
      bound_gather(topology, collective == Collective::kReduceScatter, bound);
      break;
    case Collective::kAllToAll:
      bound_all_to_all(topology, bound);
      break;
  }
  return bound;
}

}  // namespace dlcp::synth
