// The command line of `dlcp order`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/launch/world.h"

namespace dlcp::cli {

struct OrderOptions {
  std::string simulate;   // a network that exists as numbers only
  std::string netns;      // prefix: host i is namespace PREFIXi of this machine
  std::string from;       // an order file instead of measuring
  std::string out;        // order.json
  std::string plot;       // SVG
  std::string mesh;       // "pp=4,dp=16"
  std::string interface;  // as NCCL_SOCKET_IFNAME selects
  bool full = false;
  bool no_load = false;
  double share = 1;  // of the interface's rate, in the load
  double gain_min = 0.1;
  double timeout = 60;
  std::uint64_t seed = 1;
  bool json = false;
  WorldFlags world;

  // What must be the same in every process of a run, an option per line.
  std::string summary() const;
};

void add_options(CLI::App& verb, OrderOptions& options);

}  // namespace dlcp::cli
