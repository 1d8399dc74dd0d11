// The job of a process and its rank in the job, from the variables that its launcher set.
#pragma once

#include <string>
#include <string_view>

namespace dlcp::cli {

struct Launch {
  std::string job;   // Slurm's, PBS's, LSF's or torchrun's id; "" if none
  std::string rank;  // in the whole job; "" if none
};

// `environment`: NAME=value, each ended by a zero byte.
Launch launch_of(std::string_view environment);
// For a process of this host; empty if it has ended or its environment is not readable.
Launch read_launch(int pid);

}  // namespace dlcp::cli
