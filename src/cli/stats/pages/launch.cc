#include "cli/stats/pages/launch.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "util/text/printable.h"

namespace dlcp::cli {
namespace {

// The first variable that is set counts.
constexpr std::array<std::string_view, 5> kJob = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID",
                                                  "JOB_ID", "TORCHELASTIC_RUN_ID"};
constexpr std::array<std::string_view, 4> kRank = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                                   "SLURM_PROCID"};

std::string value_of(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
      return printable(entry.substr(name.size() + 1, 64));
    environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
  }
  return "";
}

template <std::size_t N>
std::string first_of(std::string_view environment, const std::array<std::string_view, N>& names) {
  for (const std::string_view name : names)
    if (std::string value = value_of(environment, name); !value.empty()) return value;
  return "";
}

}  // namespace

Launch launch_of(std::string_view environment) {
  return {first_of(environment, kJob), first_of(environment, kRank)};
}

Launch read_launch(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return launch_of(text);
}

}  // namespace dlcp::cli
