// The contents of a live page, copied and checked, because another process writes that memory.
#pragma once

#include <string>
#include <vector>

#include "cli/stats/pages/launch.h"
#include "engine/live/live_page.h"

namespace dlcp::cli {

struct ProcessSnapshot {
  int pid = 0;
  std::string command;
  std::string version;  // of the process's plugin
  std::string user;
  Launch launch;
  std::int64_t started_at = 0;  // seconds since 1970
  bool made_exact = false;      // by `dlcp exact`
  std::uint32_t missing = 0;    // lanes and communicators for which the page has no row

  // Indexed as in the page; devices without a name are unused rows.
  std::vector<engine::LiveDevice> devices;
  std::vector<engine::LiveCommunicator> communicators;
  std::vector<engine::LivePath> paths;  // by association and path

  // Name of the device in a row; "?" if it no longer exists.
  std::string device_name(std::uint32_t device) const;
};

ProcessSnapshot read_snapshot(int pid, const engine::LivePage& page);

// For each process whose page lacks rows, a sentence that says so.
std::vector<std::string> missing_rows(const std::vector<ProcessSnapshot>& processes);

std::uint64_t count_of(const std::array<std::uint64_t, core::kCounterCount>& counters,
                       core::Counter counter);

}  // namespace dlcp::cli
