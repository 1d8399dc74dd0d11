#include "order/measure/capacity.h"

#include <algorithm>
#include <cmath>

#include "util/statistics/median.h"

namespace dlcp::order {
namespace {

constexpr double kSlow = 0.5;  // of the median
// An uplink that carried nearly all that the loaded hosts can send was not the limit.
constexpr double kUnlimited = 0.9;

using fabric::Fabric;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

int deepest_leaf(const Fabric& fabric) {
  int depth = 0;
  for (const int leaf : fabric::leaves(fabric))
    depth = std::max(depth, fabric::depth_of(fabric, leaf));
  return depth;
}

// The host's group at that depth, or its leaf if the leaf is higher.
int ancestor(const Fabric& fabric, int host, int depth) {
  int group = fabric.group_of[at(host)];
  while (fabric::depth_of(fabric, group) > depth)
    group = fabric.groups[at(group)].parent;
  return group;
}

// Pairs hosts of one group, sorted by its parts: each sends to the host that is the size of the
// largest part ahead. If that part has at most half of all hosts, every partner is in another part.
void add_across(const Fabric& fabric, const std::vector<int>& hosts, int depth, LoadPhase& phase) {
  std::vector<std::pair<int, int>> sorted;  // part, host
  for (const int host : hosts)
    sorted.emplace_back(ancestor(fabric, host, depth), host);
  std::ranges::stable_sort(sorted);
  std::size_t largest = 0;
  for (std::size_t i = 0, run = 0; i < sorted.size(); ++i) {
    run = i > 0 && sorted[i].first == sorted[i - 1].first ? run + 1 : 1;
    largest = std::max(largest, run);
  }
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& to = sorted[(i + largest) % sorted.size()];
    if (to.first != sorted[i].first) phase.transfers.push_back({sorted[i].second, to.second});
  }
}

void add_within(const std::vector<int>& hosts, LoadPhase& phase) {
  for (std::size_t i = 0; i < hosts.size() && hosts.size() > 1; ++i)
    phase.transfers.push_back({hosts[i], hosts[(i + 1) % hosts.size()]});
}

// The rate that a group or host sent and received, over the transfers that left or entered it.
struct Flow {
  double out = 0, in = 0;
  double out_most = 0, in_most = 0;  // as far as the hosts of these transfers limit it
  bool known = false;
  double share() const { return std::max(of(out, out_most), of(in, in_most)); }
  static double of(double part, double whole) { return whole > 0 ? part / whole : 0; }
  double most() const { return std::max(out, in); }
};

std::vector<Flow> host_flows(const Fabric& fabric, const LoadResult& result) {
  std::vector<Flow> flows(fabric.size());
  for (std::size_t i = 0; i < result.phase.transfers.size(); ++i) {
    if (!std::isfinite(result.gb_per_s[i])) continue;
    const Transfer& transfer = result.phase.transfers[i];
    flows[at(transfer.from)].out += result.gb_per_s[i];
    flows[at(transfer.to)].in += result.gb_per_s[i];
    flows[at(transfer.from)].known = flows[at(transfer.to)].known = true;
  }
  return flows;
}

void apply_to_hosts(Fabric& fabric, const std::vector<LoadResult>& results) {
  // A host's rate is its best measured one, because a slow partner or uplink can limit the others.
  for (const LoadResult& result : results) {
    const auto flows = host_flows(fabric, result);
    for (std::size_t host = 0; host < fabric.size(); ++host) {
      double& rate = fabric.hosts[host].gb_per_s;
      if (flows[host].known) rate = std::max(rate, flows[host].most());
    }
  }
  std::vector<double> known;
  for (const fabric::Host& host : fabric.hosts)
    if (host.gb_per_s > 0) known.push_back(host.gb_per_s);
  const double typical = median(known);
  for (fabric::Host& host : fabric.hosts)
    host.slow = host.gb_per_s > 0 && host.gb_per_s < kSlow * typical;
}

void apply_to_groups(Fabric& fabric, const LoadResult& result) {
  std::vector<Flow> flows(fabric.groups.size());
  for (std::size_t i = 0; i < result.phase.transfers.size(); ++i) {
    const Transfer& transfer = result.phase.transfers[i];
    if (!std::isfinite(result.gb_per_s[i])) continue;
    Flow& from = flows[at(ancestor(fabric, transfer.from, result.phase.depth))];
    Flow& to = flows[at(ancestor(fabric, transfer.to, result.phase.depth))];
    const double most =
        std::min(fabric.hosts[at(transfer.from)].gb_per_s, fabric.hosts[at(transfer.to)].gb_per_s);
    from.out += result.gb_per_s[i];
    from.out_most += most;
    to.in += result.gb_per_s[i];
    to.in_most += most;
    from.known = to.known = true;
  }
  const auto members = fabric::members(fabric);
  std::vector<double> shares;  // by group
  for (std::size_t g = 1; g < flows.size(); ++g) {
    if (!flows[g].known) continue;
    double hosts = 0;
    for (const int host : members[g])
      hosts += fabric.hosts[at(host)].gb_per_s;
    fabric::Group& group = fabric.groups[g];
    const double share = flows[g].share();
    group.uplink_gb_per_s = share >= kUnlimited ? hosts : flows[g].most();
    shares.push_back(share);
  }
  const double typical = median(shares);
  std::size_t next = 0;
  for (std::size_t g = 1; g < flows.size(); ++g)
    if (flows[g].known) fabric.groups[g].slow = shares[next++] < kSlow * typical;
}

}  // namespace

std::vector<LoadPhase> plan_load(const Fabric& fabric) {
  auto members = fabric::members(fabric);
  for (auto& hosts : members)
    std::erase_if(hosts, [&](int host) { return fabric.hosts[at(host)].silent; });
  const int deepest = deepest_leaf(fabric);
  std::vector<LoadPhase> phases;
  LoadPhase within{deepest + 1, {}};
  for (const int leaf : fabric::leaves(fabric))
    add_within(members[at(leaf)], within);
  phases.push_back(within);
  for (int depth = deepest; depth >= 1; --depth) {
    LoadPhase phase{depth, {}};
    for (std::size_t g = 0; g < fabric.groups.size(); ++g)
      if (fabric::depth_of(fabric, static_cast<int>(g)) == depth - 1)
        add_across(fabric, members[g], depth, phase);
    phases.push_back(phase);
  }
  std::erase_if(phases, [](const LoadPhase& phase) { return phase.transfers.empty(); });
  return phases;
}

void apply_load(Fabric& fabric, const std::vector<LoadResult>& results) {
  apply_to_hosts(fabric, results);
  const int deepest = deepest_leaf(fabric);
  for (const LoadResult& result : results)
    if (result.phase.depth <= deepest) apply_to_groups(fabric, result);
}

}  // namespace dlcp::order
