// F4: many hosts send to one host at the same time.
#include <fmt/format.h>

#include "simulate/experiment/series.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {
namespace {

constexpr Contender kAll[] = {Contender::kDlcp,    Contender::kNscc, Contender::kDctcp,
                              Contender::kPfabric, Contender::kPias, Contender::kNdp,
                              Contender::kRoce};

struct Crowd {
  std::size_t senders;
  std::uint64_t bytes;
};

}  // namespace

Figure incast_figure(const FigureWishes& wishes) {
  Series series("F4", "Incast: many to one", wishes);
  series.parameter("fabric", paper_fabric_words(wishes.quick) +
                                 (wishes.quick ? "" : "; 1023 senders: fat tree of 1024"));
  series.parameter("minimum retransmission timeout of DCTCP", "1 ms");
  const std::vector<Crowd> crowds =
      wishes.quick
          ? std::vector<Crowd>{{8, 100'000}, {15, 1'000'000}}
          : std::vector<Crowd>{{8, 100'000},    {32, 100'000},    {143, 100'000}, {8, 2'000'000},
                               {32, 2'000'000}, {143, 2'000'000}, {1023, 100'000}};
  for (const Crowd crowd : crowds) {
    const std::string experiment =
        fmt::format("{} x {:.4g} MB", crowd.senders, static_cast<double>(crowd.bytes) * 1e-6);
    for (const Contender contender : kAll) {
      Setting setting;
      setting.fabric = crowd.senders > 143 ? fat_tree(16, Wire{}) : paper_fabric(wishes.quick);
      setting.contender = contender;
      const std::size_t hosts = setting.fabric.hosts();
      series.run(
          {experiment, std::string(name_of(contender)), setting,
           [=](std::uint64_t seed) { return incast(hosts, crowd.senders, crowd.bytes, seed); }},
          {completion(), tail_time(), sent_twice()});
    }
    const double ideal =
        static_cast<double>(crowd.senders * crowd.bytes) * 8 / paper_fabric(true).host.gbit_per_s;
    series.note(fmt::format("{}: the payload needs {:.1f} us on the receiver's link", experiment,
                            ideal * 1e-3));
  }
  series.compare("dlcp", "nscc", "completion");
  series.compare("dlcp", "dctcp", "completion");
  for (const char* other : {"pfabric", "pias", "ndp", "roce"})
    series.compare("dlcp", other, "completion");
  return series.take();
}

}  // namespace dlcp::simulate
