// The processes of this host that use the plugin, as far as this user may read them.
#pragma once

#include <string>
#include <vector>

#include "cli/stats/pages/snapshot.h"
#include "engine/live/live_file.h"

namespace dlcp::cli {

struct Page {
  engine::LivePlace place;
  engine::LiveView view;

  int pid() const { return place.pid; }
  // The contents of the page; an error if its plugin uses another layout.
  Result<ProcessSnapshot> read() const;
};

// Selects processes: all conditions must hold; an empty condition always holds.
struct Selection {
  std::vector<int> pids;
  std::string user;          // name or number
  std::string communicator;  // the beginning of its hash, as in `dlcp stats`
};

struct Pages {
  std::vector<Page> found;
  std::vector<std::string> problems;  // a line each: processes that cannot be read, or do not exist
};

// Problems: pages that cannot be opened, requested processes without a page, and processes whose
// communicators cannot be read, if a communicator is requested. An unknown user is kInvalidUsage.
Result<Pages> open_pages(const Selection& selection);

// A line for each process that has loaded the plugin but has no page, so that `dlcp exact` cannot
// change it. `user` as in Selection.
Result<std::vector<std::string>> without_page(const std::string& user);

// The contents of all pages. Adds processes that cannot be read, or not in full, to the problems.
std::vector<ProcessSnapshot> read_all(Pages& pages);

// "alice", or the number if it has no name.
std::string user_name(unsigned id);

}  // namespace dlcp::cli
