// The report of `dlcp order` on a network and an order, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "order/discover/discovery.h"
#include "order/solve/solve.h"

namespace dlcp::cli {

struct OrderReport {
  const fabric::Fabric& fabric;
  const order::Solution& solution;
  bool measured = true;      // false: the fabric comes from a file
  std::size_t probes = 0;    // pairs probed, one burst each
  std::size_t packets = 0;   // of 64 bytes, sent as probes
  double load_gb = 0;        // 10^9 bits sent to load the network
  double probe_seconds = 0;  // load included; simulated time in a simulated network
  double solver_seconds = 0;

  nlohmann::ordered_json to_json() const;
  std::string to_text() const;
};

}  // namespace dlcp::cli
