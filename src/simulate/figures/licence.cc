// F9: the gain of a licence over exact mode, under random loss and in incast.
#include <fmt/format.h>

#include "simulate/experiment/series.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {

Figure licence_figure(const FigureWishes& wishes) {
  Series series("F9", "Licensed loss compared with exact transfer", wishes);
  const std::uint64_t bytes = wishes.quick ? 524'288 : 8'388'608;
  series.parameter("fabric", paper_fabric_words(wishes.quick));
  series.parameter("transfer", fmt::format("{:.4g} MiB each, all of it licensed",
                                           static_cast<double>(bytes) / (1 << 20)));
  const std::size_t hosts = paper_fabric(wishes.quick).hosts();
  const std::size_t crowd = wishes.quick ? 15 : 32;
  struct Load {
    std::string name;
    double loss;
    bool to_one;
  };
  for (const Load& load :
       {Load{"permutation, no loss", 0, false}, Load{"permutation, links lose 0.1%", 0.001, false},
        Load{"permutation, links lose 1%", 0.01, false},
        Load{fmt::format("incast of {}", crowd), 0, true}}) {
    for (const double share : {0.0, 0.01, 0.03, 0.1}) {
      Setting setting;
      setting.fabric = paper_fabric(wishes.quick);
      setting.loss = load.loss;
      const std::string transport =
          share > 0 ? fmt::format("dlcp, may lose {:.0f}%", 100 * share) : "dlcp, exact";
      series.run({load.name, transport, setting,
                  [=](std::uint64_t seed) {
                    Workload made = load.to_one ? incast(hosts, crowd, bytes, seed)
                                                : permutation(hosts, bytes, seed);
                    for (Step& step : made)
                      step.transfer.may_lose = share;
                    return made;
                  }},
                 {completion(), tail_time(), given_up()});
    }
  }
  for (const char* transport : {"dlcp, may lose 1%", "dlcp, may lose 3%", "dlcp, may lose 10%"})
    series.compare(transport, "dlcp, exact", "completion");
  return series.take();
}

}  // namespace dlcp::simulate
