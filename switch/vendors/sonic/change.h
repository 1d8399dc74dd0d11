// Builds the change of one switch from the wanted rows: patches with their differences from the
// running configuration. Definitions (profiles, maps) come first and affect no port.
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

  void begin(std::string patch);  // subsequent rows belong to this patch
  void put(const std::string& table, const std::string& key, const Json& row, Impact impact);
  void remove(const std::string& table, const std::string& key, Impact impact);  // if it exists
  // Removes DLCP's own definitions that no row refers to any more; returns those that ports outside
  // the plan still use. Rows of tables that the release's updater rejects go into a separate patch
  // before all others.
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

// The treatment of the buffer profile of one queue of a port.
enum class BufferFate {
  kSite,      // kept: as planned already, or the import has no buffers
  kOwn,       // a row of DLCP's with the planned alpha
  kRange,     // kept although it differs from the plan: the site's row covers other queues as well
  kLossless,  // the site's lossless queue: an error
};
// `trims`: the queue must trim packets that do not fit, which is a field of its buffer profile.
BufferFate buffer_fate(const Json& config, const std::string& port, const QueuePlan& queue,
                       bool trims);
bool queue_trims(const SwitchPlan& plan, const QueuePlan& queue);

// Names of DLCP's definitions, by port group and queue.
struct Definitions {
  struct Queue {
    std::string scheduler, wred;  // wred empty: neither marked nor dropped early
    std::string buffer;           // empty: no lossy profile to copy
  };
  std::vector<std::map<int, Queue>> groups;
  std::string trusted_map;                // DSCP map of trusted ports
  std::map<int, std::string> remark_map;  // by remark DSCP; empty name: the site's own map is used
  std::string queue_map;                  // of every port of the plan
  std::string group_map;                  // empty: the site's own map is used
  std::map<std::string, std::string> rewriting;  // of fabric ports, by the site's TC_TO_DSCP_MAP
};

// Adds profiles and maps to `change`, and problems to `out`.
Definitions put_definitions(const SwitchPlan& plan, const Document& document, ChangeSet& change,
                            Rendering& out);

}  // namespace dlcp::fabric::sonic
