// The display of `dlcp top`: rates between two snapshots of the same processes, a line per process
// and device, as text for a terminal of any size.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/stats/pages/snapshot.h"

namespace dlcp::cli {

struct TopRow {
  int pid = 0;
  std::string user, rank, job, device, command;  // rank: "" if not known
  double sent_gbps = 0, received_gbps = 0;
  double resent_share = 0;  // of the bytes sent
  double lost_share = 0;    // of the licensed bytes received
  bool licensed = false;    // some of the bytes received were licensed
  Duration p99{0};          // of messages sent since the start; 0: none
};

enum class TopOrder { kSent, kReceived, kResent, kP99, kPid };
inline constexpr std::size_t kTopOrders = 5;
const char* name_of(TopOrder order);

// Rows of the processes in `after`; processes that are not in `before` have rate 0.
std::vector<TopRow> top_rows(const std::vector<ProcessSnapshot>& before,
                             const std::vector<ProcessSnapshot>& after,
                             std::chrono::duration<double> elapsed);
void sort_rows(std::vector<TopRow>& rows, TopOrder order);

// Summary, headings and rows, or a message that there are none, each a line of at most `width`
// columns. At most `height` lines (0: all); the last then gives the number of rows not shown.
std::vector<std::string> top_lines(const std::vector<TopRow>& rows, std::size_t width,
                                   std::size_t height);
// The paths of all processes, sorted by loss, highest first.
std::vector<std::string> path_lines(const std::vector<ProcessSnapshot>& processes,
                                    std::size_t width, std::size_t height);
nlohmann::ordered_json to_json(const std::vector<TopRow>& rows);

}  // namespace dlcp::cli
