#include "synth/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace dlcp::synth {
namespace {

Error refuse(std::string what, std::string hint = "") {
  return {ErrorCode::kInvalidUsage, std::move(what), std::move(hint)};
}

// The nodes that can be reached from `start`, along the links or against them.
std::vector<bool> reached(const Topology& topology, int start, bool forward) {
  std::vector<std::vector<int>> next(topology.nodes.size());
  for (const Link& link : topology.links) {
    const int from = forward ? link.from : link.to;
    next[static_cast<std::size_t>(from)].push_back(forward ? link.to : link.from);
  }
  std::vector<bool> seen(topology.nodes.size());
  std::vector<int> open{start};
  seen[static_cast<std::size_t>(start)] = true;
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    for (const int other : next[static_cast<std::size_t>(node)]) {
      if (seen[static_cast<std::size_t>(other)]) continue;
      seen[static_cast<std::size_t>(other)] = true;
      open.push_back(other);
    }
  }
  return seen;
}

}  // namespace

Status Topology::check() const {
  const auto count =
      std::count_if(nodes.begin(), nodes.end(), [](const Node& n) { return n.rank; });
  if (count == 0)
    return refuse("the topology has no ranks", "name the hosts or GPUs under 'ranks'");
  if (count > kRanksMax)
    return refuse(fmt::format("the topology has {} ranks; the limit is {}", count, kRanksMax));
  if (nodes.size() > static_cast<std::size_t>(kNodesMax))
    return refuse(
        fmt::format("the topology has {} nodes; the limit is {}", nodes.size(), kNodesMax));
  std::set<std::string> names;
  for (const Node& node : nodes) {
    if (!names.insert(node.name).second)
      return refuse(fmt::format("{} is defined twice", node.name),
                    "give each rank and switch a name of its own");
  }
  if (!(message >= 0 && message <= 1))
    return refuse(fmt::format("message cost {} s; give 0 to 1 s", message));
  for (const Link& link : links) {
    const auto known = [&](int node) {
      return node >= 0 && static_cast<std::size_t>(node) < nodes.size();
    };
    if (!known(link.from) || !known(link.to))
      return refuse("a link ends at a node that does not exist");
    const auto named = [&] {
      return fmt::format("link {} -> {}", nodes[static_cast<std::size_t>(link.from)].name,
                         nodes[static_cast<std::size_t>(link.to)].name);
    };
    if (link.from == link.to)
      return refuse(fmt::format("{} connects a node to itself", named()), "remove it");
    if (!(link.rate >= 0 && link.rate <= kRateMax))
      return refuse(fmt::format("{} has rate {} B/s", named(), link.rate),
                    fmt::format("give 0 to {:g} B/s", kRateMax));
    if (!(link.latency >= 0 && link.latency <= 60))
      return refuse(fmt::format("{} has latency {} s", named(), link.latency), "give 0 to 60 s");
  }
  return Unit{};
}

void Topology::put_ranks_first() {
  std::vector<int> order;
  for (const bool ranks : {true, false}) {
    for (std::size_t i = 0; i < nodes.size(); i++)
      if (nodes[i].rank == ranks) order.push_back(static_cast<int>(i));
  }
  std::vector<Node> sorted;
  std::vector<int> now_at(nodes.size());
  for (const int old : order) {
    now_at[static_cast<std::size_t>(old)] = static_cast<int>(sorted.size());
    sorted.push_back(nodes[static_cast<std::size_t>(old)]);
  }
  nodes = std::move(sorted);
  for (Link& link : links) {
    link.from = now_at[static_cast<std::size_t>(link.from)];
    link.to = now_at[static_cast<std::size_t>(link.to)];
  }
  ranks_ = static_cast<int>(
      std::count_if(nodes.begin(), nodes.end(), [](const Node& n) { return n.rank; }));
}

void Topology::merge_links() {
  std::map<std::pair<int, int>, Link> merged;
  std::size_t dead = 0, parallel = 0;
  for (const Link& link : links) {
    // Links below one byte per second are useless, and their integer capacity would be 0.
    if (link.rate < 1) {
      dead++;
      continue;
    }
    const auto [at, fresh] = merged.try_emplace({link.from, link.to}, link);
    if (fresh) continue;
    parallel++;
    at->second.rate += link.rate;
    at->second.latency = std::max(at->second.latency, link.latency);
  }
  links.clear();
  for (const auto& [ends, link] : merged)
    links.push_back(link);
  if (dead > 0) notes.push_back(fmt::format("{} one-way links have rate 0 and are ignored", dead));
  if (parallel > 0)
    notes.push_back(
        fmt::format("{} one-way links are parallel to others; their rates are added", parallel));
}

Status Topology::reach() const {
  for (const bool forward : {true, false}) {
    const auto seen = reached(*this, 0, forward);
    for (int rank = 0; rank < ranks_; rank++) {
      if (seen[static_cast<std::size_t>(rank)]) continue;
      const std::string& from = rank_name(forward ? 0 : rank);
      const std::string& to = rank_name(forward ? rank : 0);
      return refuse(
          fmt::format("{} cannot reach {}: there is no path of links in this direction", from, to),
          "add the missing link, or remove the rank");
    }
  }
  return Unit{};
}

Status Topology::settle() {
  if (auto good = check(); !good) return good;
  put_ranks_first();
  merge_links();
  return reach();
}

}  // namespace dlcp::synth
