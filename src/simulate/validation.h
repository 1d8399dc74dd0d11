// Validation of the simulator: its parts against closed forms, and its model of NSCC against
// published results of another simulator.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace dlcp::simulate {

struct Check {
  std::string name;
  std::string unit;
  double expected = 0;
  double measured = 0;
  double tolerance = 0;  // relative; 0: exact
  std::string source;

  bool ok() const { return std::abs(measured - expected) <= tolerance * std::abs(expected); }
};

using Progress = std::function<void(const std::string&)>;

// Takes a few seconds; asserted in the tests.
std::vector<Check> closed_forms();
// Ultra Ethernet's htsim, committed results of version 40ccb05: fat trees of 128 and 1024 hosts at
// 100 Gbit/s, packets of 4150 bytes. Half a minute; the quick part takes a second.
std::vector<Check> published(bool quick, const Progress& progress);

}  // namespace dlcp::simulate
