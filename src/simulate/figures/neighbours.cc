// F7: the effect of a job with a licence on other jobs in the same fabric, compared with the same
// job in exact mode.
#include <fmt/format.h>

#include "simulate/experiment/series.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {
namespace {

constexpr double kOversubscription = 2;
constexpr double kLoad = 0.3;
constexpr std::uint64_t kMessage = 100'000;

struct Beside {
  const char* name;
  bool runs;
  double may_lose;
};
constexpr Beside kAll[] = {
    {"no job", false, 0},
    {"exact job", true, 0},
    {"may lose 3%", true, 0.03},
    {"may lose 10%", true, 0.1},
};

// Every second host of each leaf belongs to the job. Its ring goes from leaf to leaf at every hop.
Workload shared(const FabricPlan& fabric, const Beside& beside, std::uint64_t chunk,
                Duration length, std::uint64_t seed) {
  std::vector<HostIndex> ring;
  std::vector<HostIndex> others;
  for (HostIndex in_leaf = 0; in_leaf < fabric.hosts_per_leaf; ++in_leaf) {
    for (HostIndex leaf = 0; leaf < fabric.leaves(); ++leaf) {
      const auto host = static_cast<HostIndex>(leaf * fabric.hosts_per_leaf + in_leaf);
      (in_leaf % 2 == 0 ? ring : others).push_back(host);
    }
  }
  Workload workload;
  if (beside.runs) workload = ring_all_reduce(ring, chunk * ring.size());
  for (Step& step : workload)
    step.transfer.may_lose = beside.may_lose;
  for (Step& step : messages(others, fabric.hosts_per_leaf, kMessage, kLoad, fabric.host.gbit_per_s,
                             length, seed)) {
    step.transfer.neighbour = true;
    workload.push_back(step);
  }
  return workload;
}

}  // namespace

Figure neighbour_figure(const FigureWishes& wishes) {
  Series series("F7", "Effect of a licensed job on its neighbours", wishes);
  const std::uint64_t chunk = wishes.quick ? 262'144 : 524'288;
  const Duration length = wishes.quick ? 400us : 5ms;
  series.parameter("fabric", paper_fabric_words(wishes.quick) +
                                 fmt::format(", uplinks {:.0f}:1", kOversubscription));
  series.parameter("job", fmt::format("every second host of each leaf; a ring all-reduce that "
                                      "crosses leaves at every hop, {} KiB a step",
                                      chunk >> 10));
  series.parameter(
      "neighbours",
      fmt::format("the other hosts; messages of {} kB to other leaves, at {:.0f}% of a link, "
                  "for {:.1f} ms",
                  kMessage / 1000, 100 * kLoad, static_cast<double>(length.count()) * 1e-6));
  series.parameter("queues", "DCTCP's neighbours have a queue of their own, with 3/8 of a link");
  for (const bool dctcp : {true, false}) {
    const std::string who = dctcp ? "DCTCP beside" : "exact DLCP beside";
    for (const Beside& beside : kAll) {
      Setting setting;
      setting.fabric = paper_fabric(wishes.quick, kOversubscription);
      setting.dctcp_neighbours = dctcp;
      const FabricPlan fabric = setting.fabric;
      series.run({who, beside.name, setting,
                  [=](std::uint64_t seed) { return shared(fabric, beside, chunk, length, seed); }},
                 {neighbour_mean(), neighbour_tail(), completion()});
    }
  }
  for (const char* licensed : {"may lose 3%", "may lose 10%"})
    series.compare(licensed, "exact job", "others' p99");
  return series.take();
}

}  // namespace dlcp::simulate
