#include "cli/order/network/simulated_run.h"

#include <chrono>
#include <cmath>
#include <numeric>

#include "cli/order/agent/burst.h"

namespace dlcp::cli {
namespace {

double seconds_of(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::vector<order::Measurement> SimulatedRun::probe(const std::vector<order::Pair>& pairs) {
  std::vector<order::Measurement> measured;
  for (const order::Pair pair : pairs)
    measured.push_back(network_.measure(pair));
  seconds_ += seconds_of(kBurstTime + kSlotOverhead);
  return measured;
}

std::vector<double> SimulatedRun::load(const order::LoadPhase& phase) {
  const auto rates = network_.load(phase.transfers);
  const double sending = kLoadRounds * seconds_of(kLoadTime);
  seconds_ += sending + kLoadRounds * seconds_of(kSlotOverhead);
  load_gb_ += sending * std::accumulate(rates.begin(), rates.end(), 0.0);
  return rates;
}

}  // namespace dlcp::cli
