#include "simulate/scenario.h"

#include <fmt/format.h>

#include <stdexcept>

#include "simulate/experiment/series.h"

namespace dlcp::simulate {
namespace {

void check_load(const Workload& workload, std::size_t hosts) {
  if (workload.empty()) throw std::runtime_error("the load contains no transfers");
  if (workload.size() > kScenarioTransfersMax)
    throw std::runtime_error(fmt::format("the load has {} transfers; the limit is {}",
                                         workload.size(), kScenarioTransfersMax));
  for (const Step& step : workload) {
    const Transfer& one = step.transfer;
    if (one.from >= hosts || one.to >= hosts)
      throw std::runtime_error(fmt::format("the load is for {} hosts, but the fabric has {}",
                                           std::max(one.from, one.to) + 1, hosts));
    if (one.bytes > kScenarioTransferBytesMax)
      throw std::runtime_error(
          fmt::format("a transfer has {} bytes; the limit is {}, because it is simulated in one "
                      "piece",
                      one.bytes, kScenarioTransferBytesMax));
  }
}

}  // namespace

Figure scenario_figure(const Scenario& scenario, const FigureWishes& wishes) {
  Series series("scenario", scenario.title, wishes);
  for (const auto& [name, value] : scenario.parameters)
    series.parameter(name, value);
  const std::size_t hosts = scenario.setting.fabric.hosts();
  const auto add = [&](const std::string& name, Contender contender, double may_lose) {
    Setting setting = scenario.setting;
    setting.contender = contender;
    const std::vector<Metric> metrics = {completion(), mean_time(), tail_time(),
                                         scenario.may_lose > 0 ? given_up() : sent_twice()};
    series.run({scenario.load, name, setting,
                [&, may_lose](std::uint64_t seed) {
                  Workload made = scenario.workload(seed);
                  check_load(made, hosts);
                  for (Step& step : made)
                    step.transfer.may_lose = may_lose;
                  return made;
                }},
               metrics);
  };
  for (const Contender contender : scenario.contenders) {
    add(std::string(name_of(contender)), contender, 0);
    if (contender == Contender::kDlcp && scenario.may_lose > 0)
      add("dlcp, licensed", contender, scenario.may_lose);
  }
  for (const Contender contender : scenario.contenders) {
    if (contender == Contender::kDlcp) continue;
    series.compare("dlcp", std::string(name_of(contender)), "completion");
  }
  series.compare("dlcp, licensed", "dlcp", "completion");
  return series.take();
}

}  // namespace dlcp::simulate
