// Checks the plan that DLCP_PLAN names, before a job fails to use it.
#pragma once

#include "cli/doctor/finding.h"

namespace dlcp::cli {

// No findings if no plan is set. A job's number of hosts is not known here; the finding states the
// number that the plan needs.
Findings check_plan();

}  // namespace dlcp::cli
