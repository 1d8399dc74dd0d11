// `dlcp-switch trace`: a packet of each class from one host to another, hop by hop.
#include <fmt/core.h>

#include <algorithm>

#include "switch/check/trace.h"
#include "switch/cli/report/output.h"
#include "switch/cli/verbs/verbs.h"
#include "switch/model/intent_file/intent_keys.h"

namespace dlcp::fabric::cli {
namespace {

Problem unknown(const std::string& what, const std::string& seen,
                const std::vector<std::string>& known, const std::string& expected) {
  Problem problem;
  problem.what = what;
  problem.seen = seen;
  problem.expected = expected;
  const std::string like = nearest(seen, std::vector<std::string_view>(known.begin(), known.end()));
  if (!like.empty()) problem.hint = fmt::format("did you mean '{}'?", like);
  return problem;
}

void print_trace(const TracedPath& path) {
  std::string names;
  for (const SwitchPlan* device : path.switches)
    names += (names.empty() ? "" : " -> ") + device->name;
  fmt::print("path: {}\n", names);
  for (const ClassTrace& one : path.classes) {
    fmt::print("  {}{}{}\n", row_of(one.traffic_class).name,
               one.tenant.empty() ? "" : " of tenant " + one.tenant,
               one.changed.empty() ? "" : ": CHANGES at " + one.changed);
    for (const Hop& hop : one.hops) {
      if (!hop.queue) {
        fmt::print("    {:<24} DSCP {:<2} {}\n", hop.node, hop.dscp_out, hop.treatment);
        continue;
      }
      fmt::print("    {:<24} DSCP {:<2} queue {} ({}), {}, {}{}\n", hop.node + " " + hop.port,
                 hop.dscp_in, *hop.queue, hop.carries, hop.colour, hop.treatment,
                 hop.dscp_out == hop.dscp_in ? "" : fmt::format(", leaves as {}", hop.dscp_out));
    }
  }
}

bool changes(const std::vector<TracedPath>& paths) {
  return std::any_of(
      paths.begin(), paths.end(),
      [](const TracedPath& path) {
        return std::any_of(
            path.classes.begin(), path.classes.end(),
            [](const ClassTrace& one) { return !one.changed.empty(); });
      });
}

std::vector<TracedPath> trace_all(const TraceOptions& options, Loaded& loaded) {
  const auto names = endpoint_names(loaded.plans);
  const auto from = find_endpoint(loaded.plans, options.from);
  const auto to = find_endpoint(loaded.plans, options.to);
  for (const auto& [found, name] :
       {std::pair(from.has_value(), &options.from), std::pair(to.has_value(), &options.to)}) {
    if (found) continue;
    loaded.problems.push_back(
        unknown("there is no host with this name", *name, names,
                "a name from `hosts`, SWITCH:PORT, or a switch with host ports"));
  }
  if (!from || !to) return {};
  std::vector<std::string> classes;
  for (const TrafficClassRow& row : kTrafficClasses)
    classes.emplace_back(row.name);
  const bool known = std::find(classes.begin(), classes.end(), options.only_class) != classes.end();
  if (!options.only_class.empty() && !known) {
    loaded.problems.push_back(unknown("there is no class with this name", options.only_class,
                                      classes, "a class such as bulk-protected"));
    return {};
  }
  std::vector<TracedPath> paths;
  for (const auto& switches : paths_between(loaded.plans, *from, *to)) {
    TracedPath path{switches, trace(*from, *to, switches)};
    std::erase_if(path.classes, [&](const ClassTrace& one) {
      return known && options.only_class != row_of(one.traffic_class).name;
    });
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace

ExitCode run_trace(const TraceOptions& options) {
  Loaded loaded = load(options.intent);
  // Switches that cannot be rendered are traced as well, because a trace helps to find the problem.
  const bool planned = loaded.intent && loaded.plans.size() == loaded.intent->switches.size();
  std::vector<TracedPath> paths;
  if (planned) paths = trace_all(options, loaded);
  if (options.intent.json) {
    fmt::print("{}", traces_json(paths, loaded.problems));
  } else {
    print_problems(loaded.problems, {.all = options.intent.all});
    for (const TracedPath& path : paths)
      print_trace(path);
  }
  const ExitCode outcome = outcome_of(loaded);
  return outcome == ExitCode::kOk && changes(paths) ? ExitCode::kWrong : outcome;
}

}  // namespace dlcp::fabric::cli
