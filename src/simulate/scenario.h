// A question of a user's own: a fabric, transports and a load, as a file names them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "simulate/contest.h"
#include "simulate/figures/figure.h"

namespace dlcp::simulate {

struct Scenario {
  std::string title = "A scenario";
  Setting setting;  // fabric, faults, losses, limit; not contender and seed
  std::vector<Contender> contenders;
  std::string load;  // in a few words
  std::function<Workload(std::uint64_t seed)> workload;
  double may_lose = 0;  // of every transfer, where DLCP moves it; it is then also run in exact mode
  std::size_t seeds = 3;
  std::vector<std::pair<std::string, std::string>> parameters;
};

// Hosts of the fabric, transfers of the load.
inline constexpr std::size_t kScenarioHostsMax = 4096;
inline constexpr std::size_t kScenarioTransfersMax = std::size_t{1} << 20;
inline constexpr std::uint64_t kScenarioTransferBytesMax = std::uint64_t{1} << 26;

// Throws std::runtime_error with what cannot be simulated.
Figure scenario_figure(const Scenario& scenario, const FigureWishes& wishes);

}  // namespace dlcp::simulate
