// F8: the reduction of the sums' error by marks that follow magnitudes, and the influence of the
// depth at which switches begin to drop.
#include <fmt/format.h>

#include <cmath>

#include "simulate/experiment/series.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {
namespace {

constexpr double kMayLose = 0.1;

struct Depth {
  const char* name;
  double knee;
};
constexpr Depth kDepths[] = {{"half", 0.5}, {"as planned", 1}, {"double", 2}};

struct Load {
  std::string name;
  bool to_one;
  double loss;
};

}  // namespace

Figure worth_figure(const FigureWishes& wishes) {
  Series series("F8", "Benefit of marking packets by worth", wishes);
  const std::uint64_t bytes = wishes.quick ? 1'048'576 : 8'388'608;
  const std::size_t crowd = wishes.quick ? 15 : 32;
  series.parameter("fabric", paper_fabric_words(wishes.quick) + ", uplinks 2:1");
  series.parameter("loads", "incast; a permutation; a permutation on links that lose 0.1%");
  series.parameter("depths", "queue length at which early drops begin: as planned, half, double");
  series.parameter("transfers", fmt::format("{} MiB, of which {:.0f}% may be lost", bytes >> 20,
                                            100 * kMayLose));
  series.parameter("gradients", "magnitudes of packets log-normal, deviation 1 of the logarithm");
  series.parameter("marks",
                   "a quarter is droppable: the smallest magnitudes, or a random choice (blind)");
  const std::size_t hosts = paper_fabric(wishes.quick).hosts();
  for (const Load& load : {Load{fmt::format("incast of {}", crowd), true, 0},
                           Load{"permutation", false, 0}, Load{"0.1% lost", false, 0.001}}) {
    for (const Depth& depth : kDepths) {
      const std::string experiment = fmt::format("{}, {}", load.name, depth.name);
      for (const bool blind : {false, true}) {
        Setting setting;
        setting.fabric = paper_fabric(wishes.quick, 2);
        setting.knee = depth.knee;
        setting.blind_marks = blind;
        setting.loss = load.loss;
        series.run({experiment, blind ? "dlcp, blind" : "dlcp, by worth", setting,
                    [=](std::uint64_t seed) {
                      Workload made = load.to_one ? incast(hosts, crowd, bytes, seed)
                                                  : permutation(hosts, bytes, seed);
                      for (Step& step : made)
                        step.transfer.may_lose = kMayLose;
                      return made;
                    }},
                   {completion(), given_up(), lost_energy()});
      }
      if (series.mean(experiment, "dlcp, by worth", "completion") <= 0 ||
          series.mean(experiment, "dlcp, blind", "completion") <= 0)
        continue;
      const auto cost = [&](const char* transport) {
        const double share = series.mean(experiment, transport, "given up");
        return share > 0 ? series.mean(experiment, transport, "energy lost") / share : 0;
      };
      series.note(
          fmt::format("{}: one percent of lost packets costs {:.3f}% of the sum of squares by "
                      "worth, {:.3f}% blind",
                      experiment, cost("dlcp, by worth"), cost("dlcp, blind")));
    }
  }
  series.compare("dlcp, by worth", "dlcp, blind", "energy lost");
  return series.take();
}

}  // namespace dlcp::simulate
