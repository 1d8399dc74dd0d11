#include "cli/order/order_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/command_line/terminal.h"

namespace dlcp::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNamesMax = 12;

template <class Items, class Wanted>
std::vector<std::string> names_of(const Items& items, const Wanted& wanted) {
  std::vector<std::string> names;
  for (const auto& item : items)
    if (wanted(item)) names.push_back(item.name);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  const std::vector<std::string> some(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamesMax)));
  return fmt::format(
      "{}{}", fmt::join(some, ", "),
      names.size() > some.size() ? fmt::format(" and {} more", names.size() - some.size()) : "");
}

// "32 leaves of 16", "7 leaves of 9 to 14"
std::string shape_of(const fabric::Fabric& fabric) {
  std::map<int, int> count;
  for (std::size_t host = 0; host < fabric.size(); ++host)
    if (!fabric.hosts[host].silent) ++count[fabric.group_of[host]];
  int least = static_cast<int>(fabric.size()), most = 0;
  for (const auto& [group, hosts] : count) {
    least = std::min(least, hosts);
    most = std::max(most, hosts);
  }
  if (count.size() <= 1) return "one leaf: the same distance between all hosts";
  return least == most ? fmt::format("{} leaves of {}", count.size(), most)
                       : fmt::format("{} leaves of {} to {}", count.size(), least, most);
}

std::string capacities_of(const fabric::Fabric& fabric) {
  std::vector<double> factors;
  const auto members = fabric::members(fabric);
  for (std::size_t g = 1; g < fabric.groups.size(); ++g) {
    double hosts = 0;
    for (const int host : members[g])
      hosts += fabric.hosts[static_cast<std::size_t>(host)].gb_per_s;
    if (fabric.groups[g].uplink_gb_per_s > 0)
      factors.push_back(hosts / fabric.groups[g].uplink_gb_per_s);
  }
  std::vector<double> rates;
  for (const auto& host : fabric.hosts)
    if (host.gb_per_s > 0) rates.push_back(host.gb_per_s);
  if (rates.empty()) return "capacities: not measured\n";
  std::ranges::sort(rates);
  std::ranges::sort(factors);
  std::string text = fmt::format("capacities: {:.3g} Gb/s per host", rates[rates.size() / 2]);
  if (!factors.empty())
    text +=
        fmt::format("; leaf uplinks carry 1/{:.2g} of the hosts' sum", factors[factors.size() / 2]);
  return text + "\n";
}

std::string distances_of(const fabric::Fabric& fabric) {
  std::map<int, std::vector<double>> by_depth;
  for (std::size_t g = 0; g < fabric.groups.size(); ++g) {
    if (fabric.groups[g].round_trip_us > 0)
      by_depth[fabric::depth_of(fabric, static_cast<int>(g))].push_back(
          fabric.groups[g].round_trip_us);
  }
  std::string text;
  for (auto at = by_depth.rbegin(); at != by_depth.rend(); ++at) {
    std::ranges::sort(at->second);
    const double us = at->second[at->second.size() / 2];
    text += text.empty() ? fmt::format("round trips: {:.1f} us within a leaf", us)
                         : fmt::format(", {:.1f} us {}", us,
                                       std::next(at) == by_depth.rend() ? "across" : "in a pod");
  }
  return text.empty() ? text : text + "\n";
}

Json to_json(const order::Comparison& one) {
  return {{"seconds_before", one.before.seconds},       {"seconds_after", one.after.seconds},
          {"seconds_bound", one.bound_seconds},         {"gain", one.gain()},
          {"latency_us_before", one.before.latency_us}, {"latency_us_after", one.after.latency_us}};
}

std::string row_of(const order::Comparison& one) {
  const auto ms = [](double seconds) {
    return seconds > 0 ? fmt::format("{:.4g}", seconds * 1e3) : std::string("-");
  };
  return fmt::format("{:<9} {:>10} {:>10} {:>10} {:>6} {:>10.0f} {:>10.0f}\n", one.name,
                     ms(one.before.seconds), ms(one.after.seconds), ms(one.bound_seconds),
                     one.before.seconds > 0 ? fmt::format("{:.2f}x", one.gain()) : "-",
                     one.before.latency_us, one.after.latency_us);
}

}  // namespace

Json OrderReport::to_json() const {
  std::size_t leaves = 0;
  std::vector<bool> seen(fabric.groups.size());
  for (std::size_t host = 0; host < fabric.size(); ++host) {
    auto leaf = seen[static_cast<std::size_t>(fabric.group_of[host])];
    leaves += !fabric.hosts[host].silent && !leaf;
    if (!fabric.hosts[host].silent) leaf = true;
  }
  const auto slow = [](const auto& item) { return item.slow; };
  Json json = {{"hosts", fabric.size()},
               {"leaves_found", leaves},
               {"crossings_before", solution.crossings_before},
               {"crossings_after", solution.crossings_after},
               {"predicted_gain", solution.gain},
               {"kept", solution.kept},
               {"probes", probes},
               {"probe_packets", packets},
               {"load_gb", load_gb},
               {"probe_seconds", probe_seconds},
               {"solver_seconds", solver_seconds},
               {"slow_hosts", names_of(fabric.hosts, slow)},
               {"slow_leaves", names_of(fabric.groups, slow)},
               {"silent", names_of(fabric.hosts, [](const auto& host) { return host.silent; })}};
  for (const auto& one : solution.comparisons)
    json["algorithms"][one.name] = cli::to_json(one);
  return json;
}

std::string OrderReport::to_text() const {
  std::string text = fmt::format("{} hosts, {}\n", fabric.size(), shape_of(fabric));
  text += distances_of(fabric) + capacities_of(fabric);
  if (measured)
    text += fmt::format("sent: {} bursts, {} packets of 64 bytes; {:.3g} Gb of load; {:.1f} s\n",
                        probes, packets, load_gb, probe_seconds);
  const auto slow = [](const auto& item) { return item.slow; };
  for (const auto& [what, names] :
       {std::pair("slow hosts: ", names_of(fabric.hosts, slow)),
        std::pair("slow leaves: ", names_of(fabric.groups, slow)),
        std::pair("not answering, and therefore last: ",
                  names_of(fabric.hosts, [](const auto& host) { return host.silent; }))})
    if (!names.empty()) text += wrapped(what + listed(names), output_width());
  text += fmt::format("\n{:<9} {:>10} {:>10} {:>10} {:>6} {:>10} {:>10}\n", "1 GB by", "before ms",
                      "after ms", "bound ms", "gain", "before us", "after us");
  for (const auto& one : solution.comparisons)
    text += row_of(one);
  return text + "\n" +
         (solution.kept ? std::string("The given order is kept: no other order is faster by the "
                                      "required share.\n")
                        : fmt::format("Hops of the ring that cross leaves: {} before, {} after.\n",
                                      solution.crossings_before, solution.crossings_after));
}

}  // namespace dlcp::cli
