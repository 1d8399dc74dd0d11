// Builds the change of one switch: wanted rows go in, and what differs from the running
// configuration comes out as patches. Definitions (profiles, maps) come first and touch no port.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "switch/vendors/sonic/document.h"
#include "switch/vendors/sonic/release.h"

namespace dlcp::fabric::sonic {

class ChangeSet {
 public:
  ChangeSet(const Json& config, const Release& release) : config_(config), release_(release) {
    direct_.direct = true;
  }

  void begin(std::string patch);  // rows put from now on belong to it
  void put(const std::string& table, const std::string& key, const Json& row, Impact impact);
  void remove(const std::string& table, const std::string& key, Impact impact);  // if it is there
  // Rows of tables that the release's updater refuses are in a patch of their own, before all
  // others. Removes DLCP's own definitions that nothing refers to any more; returns those that
  // ports outside the plan still use.
  std::vector<std::string> drop_stale();
  std::vector<Patch> take();  // without empty patches
  const Json& config() const { return config_; }

 private:
  std::set<std::string> references_left() const;
  Patch& patch_for(const std::string& table, bool changes);

  const Json& config_;
  const Release& release_;
  Patch direct_{"05-profiles", {}, {}};
  std::vector<Patch> patches_;
  std::set<std::pair<std::string, std::string>> wanted_;  // (table, key)
  std::set<std::string> created_;
};

// What becomes of the buffer profile of one queue of a port.
enum class BufferFate {
  kSite,      // stays: as planned already, or nothing is known of buffers here
  kOwn,       // a row of DLCP's with the planned alpha
  kRange,     // stays, though not as planned: the site's row covers other queues too
  kLossless,  // the queue is the site's lossless one: refused
};
// `trims`: the queue is to trim what it cannot take, which is a field of its
// buffer profile.
BufferFate buffer_fate(const Json& config, const std::string& port, const QueuePlan& queue,
                       bool trims);
bool queue_trims(const SwitchPlan& plan, const QueuePlan& queue);

// Names that DLCP's definitions got, by port group and queue.
struct Definitions {
  struct Queue {
    std::string scheduler, wred;  // wred empty: neither marked nor dropped early
    std::string buffer;           // empty: no lossy profile to start from
  };
  std::vector<std::map<int, Queue>> groups;
  std::string trusted_map;                // DSCP map of trusted ports
  std::map<int, std::string> remark_map;  // by remark DSCP; empty name: the site's own does it
  std::string queue_map, group_map;       // empty: the site's own do it
  std::map<std::string, std::string> rewriting;  // of fabric ports, by the site's TC_TO_DSCP_MAP
};

// Puts profiles and maps; problems are appended.
Definitions put_definitions(const SwitchPlan& plan, const Document& document, ChangeSet& change,
                            Rendering& out);

}  // namespace dlcp::fabric::sonic
