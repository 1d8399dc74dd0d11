// F5: a permutation while one cable of the fabric is not what routing takes it for.
#include <fmt/format.h>

#include "simulate/figures/series.h"
#include "simulate/workloads.h"

namespace dlcp::simulate {
namespace {

struct Misfortune {
  const char* name;
  double rate;  // of the link; 0: down
  double loss;
  bool happens;
};

constexpr Misfortune kAll[] = {
    {"all well", 1, 0, false},
    {"one uplink down, unnoticed", 0, 0, true},
    {"one uplink at a tenth", 0.1, 0, true},
    {"one uplink loses 0.1%", 1, 0.001, true},
};

}  // namespace

Figure failure_figure(const FigureWishes& wishes) {
  Series series("F5", "Links that fail, crawl or lose silently", wishes);
  const std::uint64_t bytes = wishes.quick ? 500'000 : 16'000'000;
  constexpr std::size_t kPaths = 32;
  series.parameter("fabric", paper_fabric_words(wishes.quick));
  series.parameter("load", fmt::format("permutation of {:.4g} MB, {} paths",
                                       static_cast<double>(bytes) * 1e-6, kPaths));
  series.parameter("fault",
                   "the first uplink of the first leaf, both ways, from the beginning; "
                   "routing never takes it out");
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
      if (one.happens)
        series.note(fmt::format("{}: {} takes {:.2f} times as long as when all is well", one.name,
                                transport, series.mean(one.name, transport, "completion") / well));
    }
  }
  series.compare("dlcp", "nscc", "completion");
  return series.take();
}

}  // namespace dlcp::simulate
