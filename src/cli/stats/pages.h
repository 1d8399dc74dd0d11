// The processes of this host that use the plugin, as far as we may look into them.
#pragma once

#include <string>
#include <vector>

#include "cli/stats/snapshot.h"
#include "engine/live_file.h"

namespace dlcp::cli {

struct Page {
  engine::LivePlace place;
  engine::LiveView view;

  int pid() const { return place.pid; }
  // What the page shows; nothing where its plugin lays it out in another way.
  Result<ProcessSnapshot> read() const;
};

// Which processes are meant; all conditions hold together, and an empty one always does.
struct Selection {
  std::vector<int> pids;
  std::string user;          // name or number
  std::string communicator;  // the beginning of its hash, as `dlcp stats` prints it
};

struct Pages {
  std::vector<Page> found;
  std::vector<std::string> problems;  // a line each: processes that cannot be read, or do not exist
};

// Problems are of pages that fail to open and of named processes without one. An unknown user is
// kInvalidUsage.
Result<Pages> open_pages(const Selection& selection);

// "alice", or the number where it has no name.
std::string user_name(unsigned id);

}  // namespace dlcp::cli
