// F3: a permutation, by number of paths, size and oversubscription.
#include <fmt/format.h>

#include "simulate/experiment/series.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {

Figure permutation_figure(const FigureWishes& wishes) {
  Series series("F3", "Permutation: use of all paths", wishes);
  const std::uint64_t bytes = wishes.quick ? 500'000 : 2'000'000;
  series.parameter("fabric", paper_fabric_words(wishes.quick));
  series.parameter("load", "every host sends to one other host");
  const auto add = [&](const std::string& name, Contender contender, std::size_t paths,
                       double oversubscription, std::uint64_t size) {
    Setting setting;
    setting.fabric = paper_fabric(wishes.quick, oversubscription);
    setting.contender = contender;
    setting.paths = paths;
    const std::size_t hosts = setting.fabric.hosts();
    std::string experiment =
        fmt::format("{:.4g} MB, {:.0f}:1", static_cast<double>(size) * 1e-6, oversubscription);
    if (paths > 0) experiment += fmt::format(", {} paths", paths);
    series.run({experiment, name, setting,
                [=](std::uint64_t seed) { return permutation(hosts, size, seed); }},
               {completion(), busiest()});
  };
  const std::vector<std::size_t> paths =
      wishes.quick ? std::vector<std::size_t>{64} : std::vector<std::size_t>{1, 4, 16, 64, 256};
  for (const std::size_t count : paths) {
    add("nscc", Contender::kNscc, count, 1, bytes);
    add("dlcp", Contender::kDlcp, count, 1, bytes);
  }
  const std::vector<double> shapes =
      wishes.quick ? std::vector<double>{1} : std::vector<double>{1, 4};
  for (const double shape : shapes) {
    for (const std::uint64_t size : {bytes, 10 * bytes}) {
      add("nscc", Contender::kNscc, 0, shape, size);
      add("dlcp", Contender::kDlcp, 0, shape, size);
      add("dctcp", Contender::kDctcp, 0, shape, size);
      add("pfabric", Contender::kPfabric, 0, shape, size);
    }
  }
  series.compare("dlcp", "nscc", "completion");
  series.compare("dlcp", "dctcp", "completion");
  series.compare("dlcp", "pfabric", "completion");
  return series.take();
}

}  // namespace dlcp::simulate
