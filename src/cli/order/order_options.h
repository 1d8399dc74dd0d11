// The command line of `dlcp order`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/launch/rendezvous/world.h"

namespace dlcp::cli {

struct OrderOptions {
  std::string simulate;   // specification of a simulated network
  std::string netns;      // prefix: host i is the namespace PREFIXi of this machine
  std::string from;       // an order file, used instead of measuring
  std::string out;        // path of the output, order.json
  std::string plot;       // path of an SVG
  std::string mesh;       // "pp=4,dp=16"
  std::string interface;  // selection as in NCCL_SOCKET_IFNAME
  bool full = false;
  bool no_load = false;
  double share = 1;  // of the interface's rate, used by the load
  double gain_min = 0.1;
  double timeout = 60;
  std::uint64_t seed = 1;
  bool json = false;
  WorldFlags world;

  // The options that must be equal in every process of a run, one per line.
  std::string summary() const;
};

void add_options(CLI::App& verb, OrderOptions& options);

}  // namespace dlcp::cli
