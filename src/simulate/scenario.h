// A user-defined simulation: a fabric, transports and a load, read from a file.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "simulate/contest.h"
#include "simulate/experiment/figure.h"

namespace dlcp::simulate {

struct Scenario {
  std::string title = "A scenario";
  Setting setting;  // fabric, faults, losses, limit; without contender and seed
  std::vector<Contender> contenders;
  std::string load;  // short description
  std::function<Workload(std::uint64_t seed)> workload;
  double may_lose = 0;  // share of every transfer, with DLCP; DLCP then also runs in exact mode
  std::size_t seeds = 3;
  std::vector<std::pair<std::string, std::string>> parameters;
};

// Limits of the fabric's hosts and of the load's transfers.
inline constexpr std::size_t kScenarioHostsMax = 4096;
inline constexpr std::size_t kScenarioTransfersMax = std::size_t{1} << 20;
inline constexpr std::uint64_t kScenarioTransferBytesMax = std::uint64_t{1} << 26;

// Throws std::runtime_error that names the unsupported part.
Figure scenario_figure(const Scenario& scenario, const FigureWishes& wishes);

}  // namespace dlcp::simulate
