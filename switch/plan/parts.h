// How DLCP's classes share queues: with enough free queues each part has one of its own, with fewer
// they join in a fixed order. And the drop levels of a part, as far as the target tells them apart.
#pragma once

#include <vector>

#include "switch/plan/plan.h"

namespace dlcp::fabric {

// Which of a queue's classes a part holds: all of them, or one kind where levels are queues.
enum class Kind { kAll, kProtected, kDroppable };

struct Part {
  std::vector<SwitchQueue> carries;
  Kind kind = Kind::kAll;
  bool strict = false;
  bool secondary = false;  // a droppable half: dlcp.queues names the protected one
  std::size_t tenant = 0;  // a strict part is every tenant's
};

// Parts for this many free queues; says in `merges` what had to join. `free_count` > 0.
std::vector<Part> choose_parts(const Capabilities& capabilities, std::size_t free_count,
                               std::size_t tenants, const SwitchIntent& device,
                               std::vector<Merge>& merges);

// The queue of a part: name, levels and their shares; no queue number, depth or weight.
QueuePlan queue_of(const Part& part, const Intent& intent, const Capabilities& capabilities,
                   std::vector<Merge>& merges);

}  // namespace dlcp::fabric
