#include "switch/plan/buffer/thresholds.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "switch/plan/buffer/arithmetic.h"
#include "switch/plan/buffer/headroom.h"
#include "switch/plan/units.h"

namespace dlcp::fabric {
namespace {

// A queue gets no more of the shared pool than its levels need: alpha is raised from 1/8 up to 1.
constexpr int kAlphaFirst = -3;
constexpr int kAlphaLast = 0;

struct Buffer {
  double pool_bytes = 0;
  double saturated = 1;
  bool per_port = false;
};

PortFigures figures_of(const Intent& intent, const PortGroup& group,
                       const Capabilities& capabilities) {
  return {static_cast<double>(group.bits_per_second),
          static_cast<double>(intent.fabric.base_rtt_ns), group.incast_degree,
          static_cast<double>(intent.fabric.mtu_bytes),
          static_cast<double>(capabilities.cell_bytes)};
}

double limit_of(const Buffer& buffer, int alpha_exponent) {
  if (buffer.per_port) return buffer.pool_bytes / buffer.saturated;
  return dynamic_limit_bytes(buffer.pool_bytes, alpha_exponent, buffer.saturated);
}

// The limit of one queue of DLCP on all of the switch's ports.
struct QueueBound {
  double bytes = 0;
  const QueueLimit* kept = nullptr;  // the site's row that sets it; null: DLCP's own
};

// DLCP sets a queue's limit, except on ports whose row stays: there the smallest one applies.
std::vector<QueueBound> bounds_of(const SwitchIntent& device, const Layout& layout,
                                  const Buffer& buffer, int alpha_exponent) {
  std::vector<QueueBound> bounds;
  for (const QueuePlan& queue : layout.queues) {
    std::optional<QueueBound> least;
    const auto consider = [&least](const QueueBound& one) {
      if (!least || one.bytes < least->bytes) least = one;
    };
    for (const PortGroup& group : device.port_groups)
      for (const std::string& name : group.ports) {
        const SitePort* const port = find_port(*device.site, name);
        const QueueLimit* kept = nullptr;
        if (port != nullptr)
          for (const QueueLimit& limit : port->limits)
            if (limit.queue == queue.queue) kept = &limit;
        if (kept == nullptr || kept->alpha_exponent)
          consider(
              {limit_of(buffer, kept == nullptr ? alpha_exponent : *kept->alpha_exponent), kept});
        else
          consider({static_cast<double>(kept->bytes), kept});
      }
    bounds.push_back(least.value_or(QueueBound{limit_of(buffer, alpha_exponent), nullptr}));
  }
  return bounds;
}

bool all_droppable(const Level& level) {
  return std::all_of(
      level.classes.begin(), level.classes.end(),
      [](TrafficClass member) { return row_of(member).early == EarlyTreatment::kDrop; });
}

bool is_marked(const QueuePlan& queue) {
  return std::any_of(
      queue.levels.begin(), queue.levels.end(),
      [](const Level& level) {
        return std::any_of(
            level.classes.begin(), level.classes.end(),
            [](TrafficClass member) { return row_of(member).early == EarlyTreatment::kMark; });
      });
}

std::vector<double> depths_of(const QueuePlan& queue, const PortFigures& port,
                              const Capabilities& capabilities) {
  std::vector<double> shares;
  for (const Level& level : queue.levels)
    shares.push_back(level.share);
  const bool one_curve = is_marked(queue) && !capabilities.separate_knee;
  return level_depths(port, shares, one_curve);
}

// The worst queue: the ratio of its deepest level to the usable limit. <= 1 fits.
struct WorstQueue {
  double excess = 0;
  std::size_t queue = 0;
  double needs = 0;
  const PortGroup* group = nullptr;
};

WorstQueue worst_queue(const Intent& intent, const SwitchIntent& device,
                       const Capabilities& capabilities, const std::vector<QueuePlan>& queues,
                       const std::vector<QueueBound>& bounds) {
  WorstQueue worst;
  for (const PortGroup& group : device.port_groups) {
    const PortFigures port = figures_of(intent, group, capabilities);
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (queues[i].strict) continue;
      const double needs =
          std::max(depths_of(queues[i], port, capabilities).back(), ecn_knee_bytes(port));
      const double excess = needs / (kUsableLimit * bounds[i].bytes);
      if (excess > worst.excess) worst = {excess, i, needs, &group};
    }
  }
  return worst;
}

std::optional<Buffer> buffer_of(const Intent& intent, const SwitchIntent& device,
                                const Capabilities& capabilities, const Layout& layout,
                                std::vector<std::string>& reasoning,
                                std::vector<Problem>& problems) {
  std::uint64_t pool = device.lossy_pool_bytes;
  const char* source = "stated";
  if (pool == 0) {
    pool = device.site->lossy_pool_bytes;
    source = device.site->pool_source.empty() ? "imported" : device.site->pool_source.c_str();
  }
  if (pool == 0) {
    pool = capabilities.lossy_pool_bytes;
    source = "conservative default of the ASIC";
  }
  if (const auto percent = device.site->lossy_pool_percent;
      percent && device.lossy_pool_bytes == 0 && capabilities.buffer_bytes != 0) {
    const std::uint64_t part = capabilities.buffer_bytes / 100 * *percent;
    if (part < pool) source = device.site->pool_source.c_str();
    pool = std::min(pool, part);
  }
  if (pool == 0) {
    Problem problem = problem_at(intent, device, "no buffer size is known");
    problem.expected = "buffer.lossy_pool, the bytes that lossy queues share";
    problem.hint = "on SONiC: the size of egress_lossy_pool in `show mmu`";
    problems.push_back(std::move(problem));
    return std::nullopt;
  }
  Buffer buffer{static_cast<double>(pool), intent.fabric.saturated_queues,
                capabilities.pool_per_port};
  if (buffer.per_port)
    buffer.saturated = static_cast<double>(std::max<std::size_t>(layout.queues.size(), 1));
  reasoning.push_back(fmt::format("buffer: {} for lossy queues ({})", bytes_text(pool), source));
  return buffer;
}

// The smallest alpha with which everything fits, else the largest allowed.
int choose_alpha(const Intent& intent, const SwitchIntent& device, const Capabilities& capabilities,
                 const Layout& layout, const Buffer& buffer) {
  if (device.alpha_exponent) return *device.alpha_exponent;
  if (capabilities.alpha_exponent_min == capabilities.alpha_exponent_max)
    return capabilities.alpha_exponent_min;
  int alpha = std::max(kAlphaFirst, capabilities.alpha_exponent_min);
  const int last = std::min(kAlphaLast, capabilities.alpha_exponent_max);
  while (alpha < last && worst_queue(intent, device, capabilities, layout.queues,
                                     bounds_of(device, layout, buffer, alpha))
                                 .excess > 1)
    ++alpha;
  return alpha;
}

std::string names_of(const std::vector<TrafficClass>& classes) {
  std::string text;
  for (const TrafficClass member : classes)
    text += (text.empty() ? "" : ", ") + std::string(row_of(member).name);
  return text;
}

// Joins levels of the worst queue until everything fits. False: even the knee does not fit.
bool fit_levels(const Intent& intent, const SwitchIntent& device, const Capabilities& capabilities,
                Layout& layout, const std::vector<QueueBound>& bounds,
                std::vector<Problem>& problems) {
  for (;;) {
    const WorstQueue worst = worst_queue(intent, device, capabilities, layout.queues, bounds);
    if (worst.excess <= 1) return true;
    const double limit = bounds[worst.queue].bytes;
    const QueueLimit* const kept = bounds[worst.queue].kept;
    QueuePlan& queue = layout.queues[worst.queue];
    const auto before = queue.levels;
    if (!join_lowest_levels(layout.queues, worst.queue)) {
      Problem problem =
          problem_at(intent, device, fmt::format("queue {} does not fit the buffer", queue.name));
      problem.line = worst.group->line;
      problem.seen = fmt::format("{} needed", bytes_text(worst.needs));
      problem.expected = fmt::format("at most {} (80% of the queue's limit {})",
                                     bytes_text(kUsableLimit * limit), bytes_text(limit));
      problem.hint =
          kept != nullptr
              ? kept->source +
                    " sets that limit, and dlcp-switch does not change it: give the "
                    "queue a row of its own in the switch's configuration, or raise "
                    "the limit there"
              : "raise buffer.alpha or buffer.lossy_pool if the switch has more, or lower "
                "fabric.saturated_queues";
      problems.push_back(std::move(problem));
      return false;
    }
    layout.merges.push_back(
        {fmt::format("queue {}: {} and {} form one drop level{}", queue.name,
                     names_of(before[0].classes), names_of(before[1].classes),
                     queue.levels.size() == 1 ? ": no packet is dropped early" : ""),
         fmt::format("the levels need {} at {} with {:g} senders; the buffer limits a queue to {}, "
                     "of which the plan may use 80%",
                     bytes_text(worst.needs), rate_text(worst.group->bits_per_second),
                     worst.group->incast_degree, bytes_text(limit))});
  }
}

// The bytes that arrive in one RTT at the queue's rate, but at least a few packets:
// acknowledgements arrive in bursts, and a shaper without burst size would drop packets that it
// should only delay.
std::uint64_t burst_bytes(std::uint64_t bits_per_second, const PortFigures& port) {
  constexpr double kPacketsMin = 16;
  PortFigures queue = port;
  queue.bits_per_second = static_cast<double>(bits_per_second);
  return static_cast<std::uint64_t>(
      std::max(bandwidth_delay_bytes(queue), kPacketsMin * port.mtu_bytes));
}

void fill_queue(QueuePlan& queue, const PortFigures& port, const Capabilities& capabilities,
                double limit) {
  queue.limit_bytes = rounded_to_cell(limit, port.cell_bytes);
  if (is_marked(queue)) queue.mark_bytes = rounded_to_cell(ecn_knee_bytes(port), port.cell_bytes);
  const auto depths = depths_of(queue, port, capabilities);
  for (std::size_t i = 0; i < queue.levels.size(); ++i) {
    Level& level = queue.levels[i];
    level.needs_bytes = rounded_to_cell(depths[i], port.cell_bytes);
    if (all_droppable(level)) level.drop_bytes = level.needs_bytes;
  }
}

void explain(const PortGroupPlan& plan, const PortFigures& port,
             std::vector<std::string>& reasoning) {
  reasoning.push_back(
      fmt::format("{} ports at {}: BDP = {} x RTT = {}; ECN knee = max(1.2 x BDP / 7, 16 packets) "
                  "= {}; F = {:g}",
                  plan.group.ports.size(), rate_text(plan.group.bits_per_second),
                  rate_text(plan.group.bits_per_second), bytes_text(plan.bdp_bytes),
                  bytes_text(ecn_knee_bytes(port)), port.incast_degree));
  if (plan.headroom_bytes > 0)
    reasoning.push_back(
        fmt::format("  headroom: {} for each lossless priority of the site, with {} m of cable",
                    bytes_text(plan.headroom_bytes), plan.group.cable_metres));
  for (const QueuePlan& queue : plan.queues) {
    double above = 1;
    for (std::size_t i = 0; i < queue.levels.size(); ++i) {
      const Level& level = queue.levels[i];
      above -= level.share;
      if (!level.drop_bytes) continue;
      reasoning.push_back(fmt::format(
          "  queue {} ({}): {} dropped from {}; above this depth {:.0f}% of the bytes still "
          "arrive, which need {}",
          queue.queue, queue.name, names_of(level.classes), bytes_text(*level.drop_bytes),
          above * 100,
          i + 1 < queue.levels.size() ? bytes_text(queue.levels[i + 1].needs_bytes) : "nothing"));
    }
  }
}

}  // namespace

Checked<std::vector<PortGroupPlan>> set_depths(const Intent& intent, const SwitchIntent& device,
                                               const Capabilities& capabilities, Layout& layout,
                                               std::vector<std::string>& reasoning) {
  Checked<std::vector<PortGroupPlan>> result;
  const auto buffer = buffer_of(intent, device, capabilities, layout, reasoning, result.problems);
  if (!buffer) return result;
  const int alpha = choose_alpha(intent, device, capabilities, layout, *buffer);
  const auto bounds = bounds_of(device, layout, *buffer, alpha);
  reasoning.push_back(
      buffer->per_port
          ? fmt::format("limit: {} of each port / {:g} queues = {}", bytes_text(buffer->pool_bytes),
                        buffer->saturated, bytes_text(limit_of(*buffer, alpha)))
          : fmt::format("limit: alpha = 2^{}, Q* = alpha x B / (1 + alpha x {:g}) = {}", alpha,
                        buffer->saturated, bytes_text(limit_of(*buffer, alpha))));
  for (std::size_t i = 0; i < bounds.size(); ++i)
    if (bounds[i].kept != nullptr)
      reasoning.push_back(fmt::format("limit of queue {} ({}): {}, set by {}, which is not changed",
                                      layout.queues[i].queue, layout.queues[i].name,
                                      bytes_text(bounds[i].bytes), bounds[i].kept->source));
  if (!fit_levels(intent, device, capabilities, layout, bounds, result.problems)) return result;
  number_levels(layout.queues, layout.dscp);

  std::vector<PortGroupPlan> groups;
  for (const PortGroup& group : device.port_groups) {
    const PortFigures port = figures_of(intent, group, capabilities);
    PortGroupPlan plan;
    plan.group = group;
    plan.bdp_bytes = static_cast<std::uint64_t>(bandwidth_delay_bytes(port));
    if (device.site->pfc_priorities != 0)
      plan.headroom_bytes =
          headroom_bytes(group.bits_per_second, group.cable_metres, intent.fabric.mtu_bytes);
    plan.queues = layout.queues;
    for (std::size_t i = 0; i < plan.queues.size(); ++i) {
      QueuePlan& queue = plan.queues[i];
      queue.alpha_exponent = alpha;
      if (queue.strict) {
        queue.shape_bits_per_second = static_cast<std::uint64_t>(
            static_cast<double>(group.bits_per_second) * intent.dlcp.strict_percent / 100);
        queue.shape_burst_bytes = burst_bytes(queue.shape_bits_per_second, port);
      }
      fill_queue(queue, port, capabilities, bounds[i].bytes);
      if (queue.limit_bytes > capabilities.threshold_bytes_max)
        queue.limit_bytes = capabilities.threshold_bytes_max;
    }
    explain(plan, port, reasoning);
    groups.push_back(std::move(plan));
  }
  result.value = std::move(groups);
  return result;
}

}  // namespace dlcp::fabric
