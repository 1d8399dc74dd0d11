// How DLCP's classes share queues: with enough free queues each part has its own, with fewer they
// join in a fixed order. Also the drop levels of a part that the target can distinguish.
#pragma once

#include <vector>

#include "switch/plan/plan.h"

namespace dlcp::fabric {

// The classes of a queue in a part: all of them, or one kind if each level has its own queue.
enum class Kind { kAll, kProtected, kDroppable };

struct Part {
  std::vector<SwitchQueue> carries;
  Kind kind = Kind::kAll;
  bool strict = false;
  bool secondary = false;  // the droppable half of a queue; dlcp.queues names the protected half
  std::size_t tenant = 0;  // a strict part serves all tenants
};

// Parts for this many free queues; `merges` receives the parts that had to join. `free_count` > 0.
std::vector<Part> choose_parts(const Capabilities& capabilities, std::size_t free_count,
                               std::size_t tenants, const SwitchIntent& device,
                               std::vector<Merge>& merges);

// The queue of a part: name, levels and their shares; without queue number, depth and weight.
QueuePlan queue_of(const Part& part, const Intent& intent, const Capabilities& capabilities,
                   std::vector<Merge>& merges);

}  // namespace dlcp::fabric
