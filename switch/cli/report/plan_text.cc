#include "switch/cli/report/plan_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "switch/plan/units.h"

namespace dlcp::fabric::cli {
namespace {

struct Columns {
  std::string queue, carries, dscps, scheduler, mark, drops, limit;
};

Columns columns_of(const QueuePlan& queue) {
  return {fmt::format("{}", queue.queue),
          queue.name,
          dscp_list(queue),
          scheduler_text(queue),
          queue.mark_bytes ? bytes_text(*queue.mark_bytes) : "-",
          drops_text(queue),
          bytes_text(queue.limit_bytes)};
}

constexpr const char* kHeads[] = {"queue",    "carries", "DSCPs", "scheduler",
                                  "ECN from", "drops",   "limit"};

// The table for a terminal, as wide as its contents: usually 80 columns. Drops are left out,
// because they have separate lines.
std::string terminal_table(const PortGroupPlan& group) {
  const auto cells = [](const Columns& c) {
    return std::array{c.queue, c.carries, c.dscps, c.scheduler, c.mark, c.limit};
  };
  std::vector<Columns> rows = {
      {kHeads[0], kHeads[1], kHeads[2], kHeads[3], kHeads[4], kHeads[5], kHeads[6]}};
  for (const QueuePlan& queue : group.queues)
    rows.push_back(columns_of(queue));
  std::array<std::size_t, 6> widths{};
  for (const Columns& row : rows)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], cells(row)[i].size());
  std::string text;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const auto row = cells(rows[at]);
    text += fmt::format("  {:>{}} {:<{}} {:<{}} {:<{}} {:>{}} {:>{}}\n", row[0], widths[0], row[1],
                        widths[1], row[2], widths[2], row[3], widths[3], row[4], widths[4], row[5],
                        widths[5]);
    const bool early =
        at > 0 && std::ranges::any_of(group.queues[at - 1].levels, [](const Level& level) {
          return level.drop_bytes.has_value();
        });
    if (early) text += fmt::format("        drops {}\n", rows[at].drops);
  }
  return text;
}

}  // namespace

std::string port_list(const std::vector<std::string>& ports) {
  if (ports.empty()) return "no ports";
  if (ports.size() == 1) return ports.front();
  return fmt::format("{} ... {} ({})", ports.front(), ports.back(), ports.size());
}

std::string class_names(const Level& level) {
  std::string text;
  for (const TrafficClass member : level.classes)
    text += (text.empty() ? "" : ", ") + std::string(dlcp::row_of(member).name);
  return text;
}

std::string dscp_list(const QueuePlan& queue) {
  std::string text;
  for (const Level& level : queue.levels)
    for (const std::uint8_t dscp : level.dscps)
      text += (text.empty() ? "" : " ") + std::to_string(dscp);
  return text;
}

std::string scheduler_text(const QueuePlan& queue) {
  if (queue.strict) return "strict, at most " + rate_text(queue.shape_bits_per_second);
  return fmt::format("weight {} ({:.0f}%)", queue.weight, queue.share_percent);
}

std::string drops_text(const QueuePlan& queue) {
  std::string text;
  for (const Level& level : queue.levels) {
    if (!level.drop_bytes) continue;
    text += fmt::format("{}{} from {}", text.empty() ? "" : "; ", class_names(level),
                        bytes_text(*level.drop_bytes));
  }
  return text.empty() ? "at the limit" : text;
}

std::string queue_tables(const SwitchPlan& plan) {
  std::string text;
  for (const PortGroupPlan& group : plan.groups) {
    text += fmt::format(
        "{} ports at {}: {}{}{}\n\n", name_of(group.group.role),
        rate_text(group.group.bits_per_second), port_list(group.group.ports),
        group.group.lag.empty() ? "" : ", members of " + group.group.lag,
        group.group.trust == Trust::kRemarked
            ? fmt::format(", not trusted (DLCP's marks become DSCP {})", group.group.remark_dscp)
            : "");
    text += '|';
    for (const char* head : kHeads)
      text += fmt::format(" {} |", head);
    text += "\n|---|---|---|---|---|---|---|\n";
    for (const QueuePlan& queue : group.queues) {
      const Columns c = columns_of(queue);
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", c.queue, c.carries, c.dscps,
                          c.scheduler, c.mark, c.drops, c.limit);
    }
    text += '\n';
  }
  return text;
}

std::string plan_text(const SwitchPlan& plan, bool explain) {
  std::string text =
      fmt::format("{}: {} {} on {}, {}; drop levels by {}\n", plan.name, plan.os, plan.version,
                  plan.asic, name_of(plan.role), name_of(plan.capabilities.mechanism));
  for (const PortGroupPlan& group : plan.groups) {
    text += fmt::format("  {} ports at {}: {}\n", name_of(group.group.role),
                        rate_text(group.group.bits_per_second), port_list(group.group.ports));
    text += terminal_table(group);
  }
  for (const Merge& merge : plan.merges)
    text += fmt::format("  merged: {}\n          because {}\n", merge.what, merge.reason);
  if (!explain) return text;
  for (const std::string& line : plan.reasoning)
    text += fmt::format("  why: {}\n", line);
  return text;
}

}  // namespace dlcp::fabric::cli
