// What DLCP_PLAN names: whether jobs can take it, before one fails to.
#pragma once

#include "cli/doctor/finding.h"

namespace dlcp::cli {

// Nothing where no plan is set. Whether a job has as many hosts as the plan has ranks is not known
// here, so that is said and not judged.
Findings check_plan();

}  // namespace dlcp::cli
