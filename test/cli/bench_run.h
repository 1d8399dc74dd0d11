// Runs `dlcp bench` as a user does and gives back what it printed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

struct BenchRun {
  int exit_code = -1;
  std::string out;
  std::string err;
  double seconds = 0;
  nlohmann::json json() const;  // of `out`
};

// `environment`: NAME=VALUE, added to ours. --json, a short --timeout and no warm-up are given
// unless `arguments` say otherwise.
BenchRun run_bench(const std::string& plugin, std::vector<std::string> arguments,
                   const std::vector<std::string>& environment = {});
