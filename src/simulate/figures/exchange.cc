// F6: all-to-all, as in mixtures of experts.
#include <fmt/format.h>

#include "simulate/experiment/series.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {

Figure exchange_figure(const FigureWishes& wishes) {
  Series series("F6", "All-to-all", wishes);
  const std::size_t lanes = 4;
  series.parameter("fabric", paper_fabric_words(wishes.quick));
  series.parameter("transfers in flight per host", fmt::format("{}", lanes));
  const std::vector<std::uint64_t> sizes = wishes.quick
                                               ? std::vector<std::uint64_t>{65'536}
                                               : std::vector<std::uint64_t>{65'536, 524'288};
  for (const std::uint64_t bytes : sizes) {
    const std::string experiment = fmt::format("{} KiB to each host", bytes >> 10);
    std::size_t hosts = 0;
    for (const Contender contender : {Contender::kDlcp, Contender::kNscc, Contender::kDctcp}) {
      Setting setting;
      setting.fabric = paper_fabric(wishes.quick);
      setting.contender = contender;
      hosts = setting.fabric.hosts();
      series.run({experiment, std::string(name_of(contender)), setting,
                  [=](std::uint64_t) { return all_to_all(hosts, bytes, lanes); }},
                 {completion(), sent_twice()});
    }
    const double ideal = static_cast<double>((hosts - 1) * bytes) * 8 / 100 * 1e-3;
    for (const char* transport : {"dlcp", "nscc", "dctcp"}) {
      const double took = series.mean(experiment, transport, "completion");
      if (took > 0)
        series.note(
            fmt::format("{}: {} takes {:.2f} times as long as the payload needs on a host's link",
                        experiment, transport, took / ideal));
    }
  }
  series.compare("dlcp", "nscc", "completion");
  series.compare("dlcp", "dctcp", "completion");
  return series.take();
}

}  // namespace dlcp::simulate
