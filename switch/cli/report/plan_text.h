// A plan as people read it: tables of queues and depths. Used by `plan` and REPORT.md.
#pragma once

#include <string>

#include "switch/plan/plan.h"

namespace dlcp::fabric::cli {

std::string port_list(const std::vector<std::string>& ports);  // first, last and count
std::string class_names(const Level& level);
std::string dscp_list(const QueuePlan& queue);
std::string scheduler_text(const QueuePlan& queue);
std::string drops_text(const QueuePlan& queue);

// Markdown: one table of queues for each port group.
std::string queue_tables(const SwitchPlan& plan);

// The output of `dlcp-switch plan` for one switch; `explain` adds the arithmetic.
std::string plan_text(const SwitchPlan& plan, bool explain);

}  // namespace dlcp::fabric::cli
