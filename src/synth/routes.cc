#include "synth/routes.h"

#include <algorithm>
#include <bit>

namespace dlcp::synth {
namespace {

constexpr int kFar = 1 << 30;

std::uint64_t hash_of(const Hop& hop) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, one word at a time
  for (const LinkShare& one : hop.links) {
    hash = (hash ^ static_cast<std::uint64_t>(one.link)) * 0x100000001b3;
    hash = (hash ^ std::bit_cast<std::uint64_t>(one.share)) * 0x100000001b3;
  }
  return hash;
}

bool same(const Hop& a, const Hop& b) {
  return std::equal(
      a.links.begin(), a.links.end(), b.links.begin(), b.links.end(),
      [](const LinkShare& x, const LinkShare& y) {
        return x.link == y.link && x.share == y.share;
      });
}

}  // namespace

Routes::Routes(const Topology& topology)
    : topology_(topology),
      ranks_(topology.ranks()),
      out_(topology.nodes.size()),
      in_(topology.nodes.size()) {
  for (std::size_t i = 0; i < topology.links.size(); i++) {
    out_[static_cast<std::size_t>(topology.links[i].from)].push_back(static_cast<int>(i));
    in_[static_cast<std::size_t>(topology.links[i].to)].push_back(static_cast<int>(i));
  }
  for (int from = 0; from < ranks_; from++) {
    for (int to = 0; to < ranks_; to++) {
      first_.push_back(static_cast<std::uint32_t>(flat_.size()));
      if (from == to) continue;
      const HopList list = between(from, to);
      flat_.insert(flat_.end(), list.begin(), list.end());
    }
  }
  first_.push_back(static_cast<std::uint32_t>(flat_.size()));
}

std::span<const int> Routes::hops(int from, int to) const {
  const std::size_t pair = static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
                           static_cast<std::size_t>(to);
  return {flat_.data() + first_[pair], first_[pair + 1] - first_[pair]};
}

double Routes::latency(int from, int to) const {
  double sum = 0;
  for (const int index : hops(from, to))
    sum += hop(index).latency;
  return sum;
}

double Routes::seconds_per_byte(int from, int to) const {
  double most = 0;
  for (const int index : hops(from, to))
    most = std::max(most, hop(index).seconds_per_byte);
  return most;
}

bool Routes::all_adjacent() const {
  for (int from = 0; from < ranks_; from++) {
    for (int to = 0; to < ranks_; to++)
      if (from != to && !adjacent(from, to)) return false;
  }
  return true;
}

// Hops to `node` over switches only; ranks have a distance, but paths do not pass through them.
std::vector<int> Routes::distances_to(int node) const {
  std::vector<int> distance(topology_.nodes.size(), kFar);
  distance[static_cast<std::size_t>(node)] = 0;
  std::vector<int> layer{node};
  for (int d = 1; !layer.empty(); d++) {
    std::vector<int> next;
    for (const int at : layer) {
      if (at != node && topology_.nodes[static_cast<std::size_t>(at)].rank) continue;
      for (const int link : in_[static_cast<std::size_t>(at)]) {
        const int before = topology_.links[static_cast<std::size_t>(link)].from;
        int& known = distance[static_cast<std::size_t>(before)];
        if (known <= d) continue;
        known = d;
        next.push_back(before);
      }
    }
    layer = std::move(next);
  }
  return distance;
}

// All bytes at `from` flow along decreasing distances to `to`; each node splits them in proportion
// to the rates.
Routes::HopList Routes::spread(int from, int to, const std::vector<int>& distance) {
  HopList list;
  std::map<int, double> layer{{from, 1.0}};
  for (int d = distance[static_cast<std::size_t>(from)]; d > 0; d--) {
    Hop hop;
    std::map<int, double> next;
    for (const auto& [node, part] : layer) {
      const auto leads_on = [&, node = node](int link) {
        const int end = topology_.links[static_cast<std::size_t>(link)].to;
        if (end != to && topology_.nodes[static_cast<std::size_t>(end)].rank) return false;
        return distance[static_cast<std::size_t>(end)] == d - 1 && node != end;
      };
      double rates = 0;
      for (const int link : out_[static_cast<std::size_t>(node)])
        rates += leads_on(link) ? topology_.links[static_cast<std::size_t>(link)].rate : 0;
      for (const int index : out_[static_cast<std::size_t>(node)]) {
        if (!leads_on(index)) continue;
        const Link& link = topology_.links[static_cast<std::size_t>(index)];
        const double share = part * link.rate / rates;
        hop.links.push_back({index, share});
        hop.latency = std::max(hop.latency, link.latency);
        hop.seconds_per_byte = std::max(hop.seconds_per_byte, share / link.rate);
        next[link.to] += share;
      }
    }
    list.push_back(intern(std::move(hop)));
    layer = std::move(next);
  }
  return list;
}

int Routes::intern(Hop hop) {
  auto& alike = known_[hash_of(hop)];
  for (const int index : alike)
    if (same(hops_[static_cast<std::size_t>(index)], hop)) return index;
  alike.push_back(static_cast<int>(hops_.size()));
  hops_.push_back(std::move(hop));
  return alike.back();
}

Routes::HopList Routes::between(int from, int to) {
  const auto ends = [&](int node) -> const std::vector<int>& {
    auto& known = distances_[node];
    if (known.empty()) known = distances_to(node);
    return known;
  };
  const auto& out = out_[static_cast<std::size_t>(from)];
  const auto& in = in_[static_cast<std::size_t>(to)];
  if (out.size() == 1 && in.size() == 1) {
    // Hosts with one cable each share the part between their switches.
    const int first = topology_.links[static_cast<std::size_t>(out[0])].to;
    const int last = topology_.links[static_cast<std::size_t>(in[0])].from;
    const bool over_switches = !topology_.nodes[static_cast<std::size_t>(first)].rank &&
                               !topology_.nodes[static_cast<std::size_t>(last)].rank;
    if (over_switches) {
      const auto& distance = ends(last);
      if (distance[static_cast<std::size_t>(first)] >= kFar) return {};
      auto [at, fresh] = middles_.try_emplace({first, last});
      if (fresh) at->second = spread(first, last, distance);
      HopList list{intern({{{out[0], 1.0}},
                           topology_.links[static_cast<std::size_t>(out[0])].latency,
                           1 / topology_.links[static_cast<std::size_t>(out[0])].rate})};
      list.insert(list.end(), at->second.begin(), at->second.end());
      list.push_back(intern({{{in[0], 1.0}},
                             topology_.links[static_cast<std::size_t>(in[0])].latency,
                             1 / topology_.links[static_cast<std::size_t>(in[0])].rate}));
      return list;
    }
  }
  const auto& distance = ends(to);
  return distance[static_cast<std::size_t>(from)] >= kFar ? HopList{} : spread(from, to, distance);
}

}  // namespace dlcp::synth
