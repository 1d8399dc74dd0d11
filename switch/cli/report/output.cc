#include "switch/cli/report/output.h"

#include <fmt/core.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "switch/cli/report/message_list.h"

namespace dlcp::fabric::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Severity severity) {
  constexpr const char* kNames[] = {"error", "warning", "note"};
  return kNames[static_cast<int>(severity)];
}

const char* name_of(Verdict verdict) {
  constexpr const char* kNames[] = {"as planned", "wrong", "not shown"};
  return kNames[static_cast<int>(verdict)];
}

Json json_of(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems) {
    Json one = {{"severity", name_of(problem.severity)}, {"what", problem.what}};
    if (!problem.rule.empty()) one["rule"] = problem.rule;
    if (!problem.file.empty()) one["file"] = problem.file;
    if (problem.line > 0) one["line"] = problem.line;
    if (!problem.seen.empty()) one["seen"] = problem.seen;
    if (!problem.expected.empty()) one["expected"] = problem.expected;
    if (!problem.hint.empty()) one["hint"] = problem.hint;
    list.push_back(std::move(one));
  }
  return list;
}

Json json_of(const QueuePlan& queue) {
  Json one = {{"queue", queue.queue},
              {"traffic_class", queue.traffic_class},
              {"name", queue.name},
              {"scheduling", queue.strict ? "strict" : "weighted"}};
  if (queue.strict) {
    one["shape_bits_per_second"] = queue.shape_bits_per_second;
  } else {
    one["weight"] = queue.weight;
    one["share_percent"] = queue.share_percent;
  }
  if (queue.tenant > 0) one["tenant"] = queue.tenant;
  if (queue.mark_bytes) one["mark_bytes"] = *queue.mark_bytes;
  one["limit_bytes"] = queue.limit_bytes;
  one["alpha_exponent"] = queue.alpha_exponent;
  one["levels"] = Json::array();
  for (const Level& level : queue.levels) {
    Json classes = Json::array();
    for (const TrafficClass member : level.classes)
      classes.push_back(dlcp::row_of(member).name);
    Json row = {{"classes", std::move(classes)},
                {"dscps", level.dscps},
                {"share", level.share},
                {"needs_bytes", level.needs_bytes}};
    if (level.drop_bytes) row["drop_bytes"] = *level.drop_bytes;
    one["levels"].push_back(std::move(row));
  }
  return one;
}

Json json_of(const SwitchPlan& plan) {
  Json one = {{"name", plan.name},
              {"os", plan.os},
              {"version", plan.version},
              {"asic", plan.asic},
              {"role", dlcp::fabric::name_of(plan.role)},
              {"mechanism", dlcp::fabric::name_of(plan.capabilities.mechanism)}};
  one["dscps"] = Json::array();
  for (std::size_t dscp = 0; dscp < plan.dscp.size(); ++dscp) {
    const DscpRow& row = plan.dscp[dscp];
    if (!row.mapped) continue;
    one["dscps"].push_back({{"dscp", dscp},
                            {"owner", row.owner == Owner::kDlcp ? "dlcp" : "site"},
                            {"traffic_class", row.traffic_class},
                            {"queue", row.queue}});
  }
  one["port_groups"] = Json::array();
  for (const PortGroupPlan& group : plan.groups) {
    Json queues = Json::array();
    for (const QueuePlan& queue : group.queues)
      queues.push_back(json_of(queue));
    one["port_groups"].push_back({{"ports", group.group.ports},
                                  {"role", dlcp::fabric::name_of(group.group.role)},
                                  {"bits_per_second", group.group.bits_per_second},
                                  {"bdp_bytes", group.bdp_bytes},
                                  {"queues", std::move(queues)}});
  }
  one["merges"] = Json::array();
  for (const Merge& merge : plan.merges)
    one["merges"].push_back({{"what", merge.what}, {"reason", merge.reason}});
  one["reasoning"] = plan.reasoning;
  return one;
}

// A hint without the switch's name.
std::string hint_without_name(const Problem& problem) {
  const auto name = "'" + problem.what.substr(0, problem.what.find(": ")) + "'";
  std::string hint = problem.hint;
  if (const auto at = hint.find(name); at != std::string::npos) hint.erase(at, name.size());
  return hint;
}

// The text after "leaf1: ", which is the same for problems of equal switches.
std::string without_name(const std::string& what) {
  const auto colon = what.find(": ");
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

std::string text_of(const Json& json) {
  // File names may contain bytes that are not UTF-8; they are replaced instead of causing an
  // exception.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::vector<Problem> collapsed(const std::vector<Problem>& problems) {
  using Key = std::tuple<Severity, std::string, int, std::string, std::string, std::string>;
  std::map<Key, std::size_t> first;
  std::vector<Problem> kept;
  std::vector<int> more;
  for (const Problem& problem : problems) {
    const bool of_switch = !problem.rule.empty();
    // Equal switches that the intent lists separately have the same warning on different lines.
    const bool by_line = !of_switch || problem.severity == Severity::kError;
    const Key key{problem.severity,
                  problem.file,
                  by_line ? problem.line : 0,
                  of_switch ? without_name(problem.what) : problem.what,
                  problem.seen,
                  of_switch ? hint_without_name(problem) : problem.hint};
    const auto [at, fresh] = first.emplace(key, kept.size());
    if (fresh) {
      kept.push_back(problem);
      more.push_back(0);
    } else {
      ++more[at->second];
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto colon = kept[i].what.find(": ");
    if (more[i] == 0 || kept[i].rule.empty() || colon == std::string::npos) continue;
    kept[i].what.insert(colon, fmt::format(" (and {} more)", more[i]));
  }
  return kept;
}

void print_problems(const std::vector<Problem>& problems, PrintOptions options) {
  std::vector<Message> messages;
  for (Problem& problem : collapsed(problems)) {
    if (problem.severity == Severity::kNote && !options.notes) continue;
    const bool of_switch = !problem.rule.empty();
    Message message;
    message.kind = fmt::format("{} {} {}", name_of(problem.severity), problem.rule,
                               kind_of(of_switch ? without_name(problem.what) : problem.what));
    message.hint = std::move(problem.hint);
    problem.hint.clear();
    message.text = to_text(problem);
    message.place = problem.line > 0 ? fmt::format("{}:{}", problem.file, problem.line)
                                     : std::move(problem.file);
    messages.push_back(std::move(message));
  }
  fmt::print(stderr, "{}", message_list(messages, options.all));
}

std::string counted(std::size_t count, std::string_view noun) {
  const char* const ending = count == 1 ? "" : noun.ends_with("ch") ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, ending);
}

std::string problems_json(const std::vector<Problem>& problems) {
  return text_of({{"problems", json_of(problems)}});
}

std::string plans_json(const std::vector<SwitchPlan>& plans, const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const SwitchPlan& plan : plans)
    list.push_back(json_of(plan));
  return text_of({{"switches", std::move(list)}, {"problems", json_of(problems)}});
}

std::string changes_json(const std::vector<Rendered>& switches,
                         const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const auto& [name, rendering] : switches) {
    Json changes = Json::array();
    for (const Change& change : rendering.changes) {
      changes.push_back({{"row", change.row},
                         {"before", change.before},
                         {"after", change.after},
                         {"impact", dlcp::fabric::name_of(change.impact)}});
    }
    Json files = Json::array();
    for (const OutputFile& file : rendering.files)
      files.push_back(file.path);
    list.push_back({{"name", name}, {"changes", std::move(changes)}, {"files", std::move(files)}});
  }
  return text_of({{"switches", std::move(list)}, {"problems", json_of(problems)}});
}

std::string targets_json(const std::vector<TargetRow>& targets) {
  Json list = Json::array();
  for (const TargetRow& row : targets) {
    Json one = {{"os", row.os},
                {"since", row.since},
                {"asics", row.asics},
                {"levels_per_queue", row.levels_per_queue},
                {"mechanism", row.mechanism},
                {"separate_knee", row.separate_knee},
                {"releases", row.releases},
                {"sources", row.sources},
                {"checked_by", row.checked_by}};
    one["features"] = Json::array();
    for (const FeatureRow& feature : row.features) {
      Json each = {{"feature", feature.feature}, {"how", feature.how}, {"source", feature.source}};
      if (!feature.since.empty()) each["since"] = feature.since;
      if (!feature.asics.empty()) each["asics"] = feature.asics;
      if (!feature.modes.empty()) each["modes"] = feature.modes;
      if (feature.max > 0) each["range"] = {feature.min, feature.max};
      one["features"].push_back(std::move(each));
    }
    if (row.control_plane_queue >= 0) one["control_plane_queue"] = row.control_plane_queue;
    list.push_back(std::move(one));
  }
  return text_of({{"systems", std::move(list)}});
}

std::string files_json(const std::vector<std::string>& files,
                       const std::vector<Problem>& problems) {
  return text_of({{"files", files}, {"problems", json_of(problems)}});
}

std::string traces_json(const std::vector<TracedPath>& paths,
                        const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const TracedPath& path : paths) {
    Json one = {{"switches", Json::array()}, {"classes", Json::array()}};
    for (const SwitchPlan* device : path.switches)
      one["switches"].push_back(device->name);
    for (const ClassTrace& each : path.classes) {
      Json hops = Json::array();
      for (const Hop& hop : each.hops) {
        Json row = {{"node", hop.node}, {"dscp_in", hop.dscp_in}, {"dscp_out", hop.dscp_out}};
        if (hop.queue) {
          row["port"] = hop.port;
          row["queue"] = *hop.queue;
          row["traffic_class"] = *hop.traffic_class;
          row["carries"] = hop.carries;
          row["colour"] = hop.colour;
        }
        row["treatment"] = hop.treatment;
        hops.push_back(std::move(row));
      }
      Json of_class = {{"class", dlcp::row_of(each.traffic_class).name},
                       {"unchanged", each.changed.empty()},
                       {"hops", std::move(hops)}};
      if (!each.tenant.empty()) of_class["tenant"] = each.tenant;
      if (!each.changed.empty()) of_class["changed"] = each.changed;
      one["classes"].push_back(std::move(of_class));
    }
    list.push_back(std::move(one));
  }
  return text_of({{"paths", std::move(list)}, {"problems", json_of(problems)}});
}

std::string verified_json(const std::vector<Verified>& switches,
                          const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Verified& each : switches) {
    Json commands = Json::array();
    for (const VerifyCommand& command : each.commands)
      commands.push_back({{"command", command.command}, {"shows", command.shows}});
    Json findings = Json::array();
    for (const Finding& finding : each.findings) {
      Json one = {{"verdict", name_of(finding.verdict)}, {"what", text_of(finding)}};
      if (!finding.port.empty()) one["port"] = finding.port;
      if (finding.queue >= 0) one["queue"] = finding.queue;
      findings.push_back(std::move(one));
    }
    list.push_back({{"name", each.name},
                    {"commands", std::move(commands)},
                    {"findings", std::move(findings)}});
  }
  return text_of({{"switches", std::move(list)}, {"problems", json_of(problems)}});
}

}  // namespace dlcp::fabric::cli
