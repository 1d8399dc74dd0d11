#include "order/measure/simulated_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "order/measure/capacity.h"
#include "util/rng.h"
#include "util/text/quantity.h"
#include "util/text/similar.h"

namespace dlcp::order {
namespace {

constexpr double kLeafRoundTripUs = 10;  // of each tier
constexpr int kProbesOfBurst = 24;       // of which the shortest RTT counts
constexpr double kSlowShare = 0.25;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

struct Field {
  const char* name;
  double least, most;
  bool whole;
  std::function<void(SimulationSpec&, double)> store;
};

const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = {
      {"hosts", 1, 65536, true, [](auto& s, double v) { s.hosts = static_cast<int>(v); }},
      {"leaves", 1, 65536, true, [](auto& s, double v) { s.leaves = static_cast<int>(v); }},
      {"pods", 1, 65536, true, [](auto& s, double v) { s.pods = static_cast<int>(v); }},
      {"oversubscription", 1, 1000, false, [](auto& s, double v) { s.oversubscription = v; }},
      {"pod_oversubscription", 1, 1000, false,
       [](auto& s, double v) { s.pod_oversubscription = v; }},
      {"noise", 0, 1, false, [](auto& s, double v) { s.noise = v; }},
      {"asymmetry", 0, 1, false, [](auto& s, double v) { s.asymmetry = v; }},
      {"seed", 0, 1e15, true, [](auto& s, double v) { s.seed = static_cast<std::uint64_t>(v); }},
      {"gb_per_s", 0.001, 1e5, false, [](auto& s, double v) { s.gb_per_s = v; }},
      {"slow_hosts", 0, 65536, true, [](auto& s, double v) { s.slow_hosts = static_cast<int>(v); }},
      {"slow_leaves", 0, 65536, true,
       [](auto& s, double v) { s.slow_leaves = static_cast<int>(v); }},
      {"silent", 0, 65536, true, [](auto& s, double v) { s.silent = static_cast<int>(v); }},
      {"uneven", 0, 1, true, [](auto& s, double v) { s.uneven = v != 0; }},
      {"shuffled", 0, 1, true, [](auto& s, double v) { s.shuffled = v != 0; }},
      {"hops", 0, 1, true, [](auto& s, double v) { s.hops = v != 0; }}};
  return kFields;
}

Error bad(const std::string& what, const std::string& hint) {
  return {ErrorCode::kInvalidUsage, "--simulate: " + what, hint};
}

Status set_field(SimulationSpec& spec, std::string_view name, std::string_view text) {
  std::vector<std::string_view> names;
  for (const Field& field : fields()) {
    names.push_back(field.name);
    if (name != field.name) continue;
    const auto value = parse_number(text);
    if (!value || *value < field.least || *value > field.most ||
        (field.whole && *value != std::floor(*value)))
      return bad(fmt::format("{} is '{}'", name, text.substr(0, 40)),
                 fmt::format("give {}{:g}..{:g}", field.whole ? "a whole number, " : "",
                             field.least, field.most));
    field.store(spec, *value);
    return Unit{};
  }
  const std::string_view similar = most_similar(name, names);
  return bad(fmt::format("there is no parameter '{}'", name.substr(0, 40)),
             similar.empty() ? fmt::format("give {}", fmt::join(names, ", "))
                             : fmt::format("did you mean {}?", similar));
}

// Uniform in -1..1, and always the same for the same arguments.
double wobble(std::uint64_t seed, int a, int b) {
  Rng random(seed ^ (static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b)) *
                        0x9e3779b97f4a7c15u);
  return 2 * random.unit() - 1;
}

// The number of hosts of each leaf; the first leaves get the remainder.
std::vector<int> leaf_sizes(const SimulationSpec& spec, Rng& random) {
  std::vector<int> sizes(at(spec.leaves), spec.hosts / spec.leaves);
  for (int i = 0; i < spec.hosts % spec.leaves; ++i)
    ++sizes[at(i)];
  for (int i = 0; spec.uneven && i < spec.hosts; ++i) {
    int& from = sizes[random.below(sizes.size())];
    int& to = sizes[random.below(sizes.size())];
    if (from > 3 && to > 2) --from, ++to;
  }
  return sizes;
}

void shuffle(std::vector<int>& list, Rng& random) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[random.below(i)]);
}

}  // namespace

Result<SimulationSpec> parse_simulation(std::string_view text) {
  SimulationSpec spec;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos)
      return bad(fmt::format("'{}' has no value", entry.substr(0, 40)), "write NAME=VALUE,...");
    const Status set = set_field(spec, entry.substr(0, equals), entry.substr(equals + 1));
    if (!set) return set.error();
  }
  if (spec.leaves > spec.hosts || spec.pods > spec.leaves)
    return bad(fmt::format("{} hosts, {} leaves and {} pods do not fit together", spec.hosts,
                           spec.leaves, spec.pods),
               "each leaf needs at least one host, and each pod at least one leaf");
  if (spec.slow_hosts > spec.hosts || spec.silent > spec.hosts || spec.slow_leaves > spec.leaves)
    return bad("slow_hosts, slow_leaves or silent exceeds the number of hosts or leaves",
               "lower slow_hosts, slow_leaves or silent");
  return spec;
}

SimulatedNetwork::SimulatedNetwork(const SimulationSpec& spec)
    : spec_(spec), silent_(at(spec.hosts)) {
  Rng random(spec.seed);
  const auto sizes = leaf_sizes(spec, random);
  std::vector<int> place;  // leaf of each host
  for (int leaf = 0; leaf < spec.leaves; ++leaf)
    place.insert(place.end(), at(sizes[at(leaf)]), leaf);
  if (spec.shuffled) shuffle(place, random);
  truth_.groups.push_back({"fabric", -1, 0, kLeafRoundTripUs, false});
  const int pods = spec.pods > 1 ? spec.pods : 0;
  for (int pod = 0; pod < pods; ++pod)
    truth_.groups.push_back({fmt::format("pod{}", pod), 0, 0, 0, false});
  for (int leaf = 0; leaf < spec.leaves && spec.leaves > 1; ++leaf) {
    const int parent = pods > 0 ? 1 + leaf * pods / spec.leaves : 0;
    truth_.groups.push_back({fmt::format("leaf{}", leaf), parent, 0, kLeafRoundTripUs, false});
  }
  for (int i = 0; i < spec.hosts; ++i) {
    truth_.hosts.push_back(
        {fmt::format("host{}", i), {}, spec.gb_per_s, 1, i < spec.slow_hosts, false});
    truth_.group_of.push_back(spec.leaves > 1 ? 1 + pods + place[at(i)] : 0);
    if (i < spec.slow_hosts) truth_.hosts.back().gb_per_s *= kSlowShare;
  }
  // Hosts in the middle, so that neither the first pivot nor the slow hosts are among them.
  for (int i = 0; i < spec.silent; ++i)
    silent_[at((spec.hosts / 2 + i) % spec.hosts)] = true;
  if (spec.leaves > 1) truth_.groups[0].round_trip_us = (pods > 0 ? 3 : 2) * kLeafRoundTripUs;
  const auto members = fabric::members(truth_);
  for (std::size_t g = 1; g < truth_.groups.size(); ++g) {
    fabric::Group& group = truth_.groups[g];
    const bool pod = pods > 0 && group.parent == 0;
    if (pod) group.round_trip_us = 2 * kLeafRoundTripUs;
    group.uplink_gb_per_s = static_cast<double>(members[g].size()) * spec.gb_per_s /
                            spec.oversubscription / (pod ? spec.pod_oversubscription : 1);
    group.slow = !pod && static_cast<int>(g) <= pods + spec.slow_leaves;
    if (group.slow) group.uplink_gb_per_s *= kSlowShare;
  }
}

Measurement SimulatedNetwork::measure(Pair pair) const {
  if (silent_[at(pair.from)] || silent_[at(pair.to)]) return {};
  const int group = fabric::common_group(truth_, pair.from, pair.to);
  const double base = truth_.groups[at(group)].round_trip_us;
  const auto [low, high] = std::minmax(pair.from, pair.to);
  double factor = 1 + spec_.noise * wobble(spec_.seed, low, high) +
                  spec_.asymmetry * wobble(~spec_.seed, pair.from, pair.to);
  // Of the exponential jitter of single probes, the burst's minimum remains.
  factor += spec_.noise / kProbesOfBurst * std::fabs(wobble(spec_.seed + 1, pair.from, pair.to));
  const int tiers = static_cast<int>(std::lround(base / kLeafRoundTripUs));
  return {true, base * std::max(factor, 0.01), spec_.hops ? 2 * tiers - 1 : -1};
}

std::vector<double> SimulatedNetwork::load(const std::vector<Transfer>& transfers) const {
  // Max-min fair shares by progressive filling: all rates grow equally until a link is full, which
  // fixes the rates of its transfers.
  std::map<std::pair<int, int>, double> room;  // (kind and direction, index) -> Gb/s left
  std::vector<std::vector<std::pair<int, int>>> passes(transfers.size());
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const auto [from, to] = transfers[i];
    if (silent_[at(from)] || silent_[at(to)]) continue;
    passes[i] = {{0, from}, {1, to}};
    const int top = fabric::common_group(truth_, from, to);
    for (int g = truth_.group_of[at(from)]; g != top; g = truth_.groups[at(g)].parent)
      passes[i].push_back({2, g});
    for (int g = truth_.group_of[at(to)]; g != top; g = truth_.groups[at(g)].parent)
      passes[i].push_back({3, g});
    for (const auto& [kind, index] : passes[i])
      room[{kind, index}] =
          kind < 2 ? truth_.hosts[at(index)].gb_per_s : truth_.groups[at(index)].uplink_gb_per_s;
  }
  std::vector<double> rate(transfers.size(), 0);
  std::vector<bool> fixed(transfers.size());
  for (std::size_t i = 0; i < transfers.size(); ++i)
    fixed[i] = passes[i].empty();
  while (!std::ranges::all_of(fixed, std::identity())) {
    std::map<std::pair<int, int>, int> users;
    for (std::size_t i = 0; i < transfers.size(); ++i)
      for (const auto& place : passes[i])
        users[place] += !fixed[i];
    double step = INFINITY;
    for (const auto& [place, count] : users)
      if (count > 0) step = std::min(step, room[place] / count);
    for (const auto& [place, count] : users)
      room[place] -= step * count;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      if (fixed[i]) continue;
      rate[i] += step;
      fixed[i] =
          std::ranges::any_of(passes[i], [&](const auto& place) { return room[place] < 1e-9; });
    }
  }
  return rate;
}

}  // namespace dlcp::order
