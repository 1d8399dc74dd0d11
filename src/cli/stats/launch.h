// Which job a process belongs to and which rank of it it is, by what its launcher left in its
// environment.
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
// Of a process of this host; empty where it is gone or not ours.
Launch read_launch(int pid);

}  // namespace dlcp::cli
