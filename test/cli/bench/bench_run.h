// Runs `dlcp bench` as a user does and returns its output.
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

// `environment`: NAME=VALUE, added to this process's. --json, a short --timeout and no warm-up are
// passed unless `arguments` have these options.
BenchRun run_bench(const std::string& plugin, std::vector<std::string> arguments,
                   const std::vector<std::string>& environment = {});
