// F5: a permutation while one cable of the fabric differs from routing's assumption.
#include <fmt/format.h>

#include "simulate/experiment/series.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {
namespace {

struct Misfortune {
  const char* name;
  double rate;  // of the link; 0: down
  double loss;
  bool happens;
  Duration lasts{0};
  Duration every{0};
};

constexpr Misfortune kAll[] = {
    {"no fault", 1, 0, false},
    {"one uplink down, not rerouted", 0, 0, true},
    {"one uplink down 200 us of every 500", 0, 0, true, 200us, 500us},
    {"one uplink at 10% rate", 0.1, 0, true},
    {"one uplink loses 0.1%", 1, 0.001, true},
};
constexpr const char* kStorm = "one host pauses";
constexpr Duration kStormLasts = 20ms;  // shorter than a watchdog's detection time
constexpr HostIndex kStormHost = 0;

// Senders to the paused host are blocked; the figure measures the others.
void add_storm(Series& series, const FigureWishes& wishes, std::uint64_t bytes) {
  for (const Contender contender : {Contender::kDlcp, Contender::kNscc, Contender::kRoce}) {
    for (const bool storm : {false, true}) {
      Setting setting;
      setting.fabric = paper_fabric(wishes.quick);
      setting.contender = contender;
      if (storm) setting.storm = PauseStorm{kStormHost, Duration{0}, kStormLasts};
      const std::size_t hosts = setting.fabric.hosts();
      series.run({storm ? kStorm : "no host pauses", std::string(name_of(contender)), setting,
                  [=](std::uint64_t seed) {
                    Workload made = permutation(hosts, bytes, seed);
                    for (Step& step : made)
                      step.transfer.neighbour = step.transfer.to == kStormHost;
                    return made;
                  }},
                 {completion(), tail_time()});
    }
  }
  for (const char* transport : {"dlcp", "nscc", "roce"}) {
    const double well = series.mean("no host pauses", transport, "completion");
    const double stormy = series.mean(kStorm, transport, "completion");
    if (well > 0 && stormy > 0)
      series.note(fmt::format(
          "one host sends pause frames for {} ms: with {} the other hosts take {:.2f} times as "
          "long as without pauses",
          kStormLasts / 1ms, transport, stormy / well));
  }
}

}  // namespace

Figure failure_figure(const FigureWishes& wishes) {
  Series series("F5", "Links that fail, slow down or lose packets silently", wishes);
  const std::uint64_t bytes = wishes.quick ? 500'000 : 16'000'000;
  constexpr std::size_t kPaths = 32;
  series.parameter("fabric", paper_fabric_words(wishes.quick));
  series.parameter("load", fmt::format("permutation of {:.4g} MB, {} paths",
                                       static_cast<double>(bytes) * 1e-6, kPaths));
  series.parameter("fault",
                   "the first uplink of the first leaf, in both directions, from the beginning; "
                   "routing never avoids it");
  series.parameter("pauses", fmt::format("one host sends pause frames to its switch for {} ms; "
                                         "the times are those of transfers to other hosts, all "
                                         "paths",
                                         kStormLasts / 1ms));
  for (const Misfortune& one : kAll) {
    for (const Contender contender : {Contender::kDlcp, Contender::kNscc}) {
      Setting setting;
      setting.fabric = paper_fabric(wishes.quick);
      setting.contender = contender;
      setting.paths = kPaths;
      if (one.happens) {
        CableFault fault;
        fault.tier = Fabric::Tier::kLeafUp;
        fault.rate = one.rate;
        fault.loss = one.loss;
        fault.lasts = one.lasts;
        fault.every = one.every;
        fault.both_ways = true;
        setting.faults = {fault};
      }
      const std::size_t hosts = setting.fabric.hosts();
      series.run({one.name, std::string(name_of(contender)), setting,
                  [=](std::uint64_t seed) { return permutation(hosts, bytes, seed); }},
                 {completion(), sent_twice()});
    }
  }
  for (const char* transport : {"dlcp", "nscc"}) {
    const double well = series.mean(kAll[0].name, transport, "completion");
    for (const Misfortune& one : kAll) {
      const double took = series.mean(one.name, transport, "completion");
      if (one.happens && well > 0 && took > 0)
        series.note(fmt::format("{}: {} takes {:.2f} times as long as without a fault", one.name,
                                transport, took / well));
    }
  }
  add_storm(series, wishes, wishes.quick ? bytes : bytes / 8);
  series.compare("dlcp", "nscc", "completion");
  return series.take();
}

}  // namespace dlcp::simulate
