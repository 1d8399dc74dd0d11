// The time that each record shares with others.
#pragma once

#include <vector>

#include "whatif/run/run.h"

namespace dlcp::whatif {

// Sets overlap_ns of every record: how long another one was in flight, too.
void find_overlaps(std::vector<Record>& records);

}  // namespace dlcp::whatif
