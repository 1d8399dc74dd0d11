#include "order/discover/discovery.h"

#include <fmt/format.h>

#include "order/discover/find_fabric.h"
#include "order/measure/schedule.h"

namespace dlcp::order {
namespace {

constexpr int kSquareMax = 4096;

void say(const DiscoveryOptions& options, const std::string& what) {
  if (options.progress) options.progress(what);
}

}  // namespace

Discovery discover(Network& network, std::vector<fabric::Host> hosts,
                   const DiscoveryOptions& options) {
  const int n = static_cast<int>(hosts.size());
  Discovery found;
  found.known = Measurements(n);
  Survey latest;
  while (true) {
    latest = survey(found.known, options.survey);
    if (latest.wanted.empty()) break;
    for (const auto& slot : schedule(latest.wanted, n)) {
      say(options, fmt::format("measured {} pairs of {} hosts, found {} leaves so far",
                               found.probes, n, latest.leaves_so_far));
      const auto measured = network.probe(slot);
      for (std::size_t i = 0; i < slot.size(); ++i)
        found.known.add(slot[i], measured[i]);
      found.probes += slot.size();
      ++found.slots;
    }
  }
  found.fabric = find_fabric(std::move(hosts), found.known, latest);
  if (!options.load) return found;
  std::vector<LoadResult> results;
  const auto phases = plan_load(found.fabric);
  for (const LoadPhase& phase : phases) {
    say(options, fmt::format("load phase {} of {}: {} hosts send at the same time",
                             results.size() + 1, phases.size(), phase.transfers.size()));
    results.push_back({phase, network.load(phase)});
  }
  found.load_phases = results.size();
  apply_load(found.fabric, results);
  return found;
}

std::optional<Distances> all_distances(const Measurements& known) {
  if (known.hosts() > kSquareMax) return std::nullopt;
  Distances distances(static_cast<std::size_t>(known.hosts()));
  for (const auto& [pair, us] : known.round_trips())
    distances.set(static_cast<std::size_t>(pair.from), static_cast<std::size_t>(pair.to), us);
  return distances;
}

}  // namespace dlcp::order
