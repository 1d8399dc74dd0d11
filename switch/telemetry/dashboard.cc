#include "switch/telemetry/dashboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "switch/plan/units.h"

namespace dlcp::fabric::telemetry {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kColumns = 24, kHeight = 8;

// The common properties of the queues for one kind of traffic, and the differences among them.
struct Carried {
  std::string name, dscps, shed;
  std::set<int> queues;
  std::uint64_t limit_min = UINT64_MAX, limit_max = 0;
  bool marks = false;
  Part part = Part::kExact;
};

std::vector<Carried> carried_by(const std::vector<Watch>& watches) {
  std::vector<Carried> list;
  for (const Watch& watch : watches)
    for (const WatchedPorts& group : watch.groups)
      for (const WatchedQueue& queue : group.queues) {
        auto at = std::find_if(list.begin(), list.end(),
                               [&](const Carried& row) { return row.name == queue.carries; });
        if (at == list.end()) {
          at = list.insert(at, Carried{});
          at->name = queue.carries;
          at->dscps = queue.dscps;
        }
        at->queues.insert(queue.queue);
        at->limit_min = std::min(at->limit_min, queue.limit_bytes);
        at->limit_max = std::max(at->limit_max, queue.limit_bytes);
        at->marks = at->marks || queue.marks;
        at->part = std::max(at->part, queue.part);
        if (at->shed.empty()) at->shed = queue.shed;
      }
  return list;
}

bool counted(const std::vector<Watch>& watches, Counter counter) {
  return std::any_of(
      watches.begin(), watches.end(),
      [counter](const Watch& watch) {
        return watch.names != nullptr && watch.names->counter(counter, watch.version) != nullptr;
      });
}

struct Query {
  std::string expression, legend;
};

class DashboardBuilder {
 public:
  DashboardBuilder(const std::string& fabric, const std::vector<Watch>& watches)
      : watches_(watches) {
    board_ = {{"title", "DLCP switches: " + fabric},
              {"uid", uid_of(fabric)},
              {"tags", {"dlcp", "switch"}},
              {"schemaVersion", 38},
              {"version", 1},
              {"editable", true},
              {"refresh", "30s"},
              {"timezone", ""},
              {"time", {{"from", "now-1h"}, {"to", "now"}}}};
    matchers_ = "fabric=" + Json(fabric).dump() + ",switch=~\"$switch\",port=~\"$port\"";
    const auto variable = [&](const char* name, const char* label, const std::string& query) {
      return Json{{"name", name},
                  {"label", label},
                  {"type", "query"},
                  {"datasource", source()},
                  {"query", {{"query", query}, {"refId", name}}},
                  {"refresh", 2},
                  {"multi", true},
                  {"includeAll", true},
                  {"allValue", ".*"},
                  {"current", {{"text", "All"}, {"value", "$__all"}}}};
    };
    const std::string series =
        "dlcp_switch_queue_packets:rate5m{fabric=" + Json(fabric).dump() + "}";
    board_["templating"]["list"] = {
        {{"name", "datasource"},
         {"label", "Data source"},
         {"type", "datasource"},
         {"query", "prometheus"},
         {"current", Json::object()}},
        variable("switch", "Switch", "label_values(" + series + ", switch)"),
        variable("port", "Port", "label_values(" + series + ", port)")};
    board_["panels"] = Json::array();
  }

  std::string run() {
    for (const Carried& carried : carried_by(watches_))
      put_carried(carried);
    put_others();
    return board_.dump(1) + "\n";
  }

 private:
  static Json source() { return {{"type", "prometheus"}, {"uid", "${datasource}"}}; }

  // Grafana limits this identifier to 40 characters.
  static std::string uid_of(const std::string& fabric) {
    std::string uid = "dlcp-switch-";
    for (const char c : fabric)
      if (uid.size() < 40)
        uid += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '-';
    return uid;
  }

  std::string series(const std::string& name, const std::string& carries) const {
    return fmt::format("{}{{{},carries={}}}", name, matchers_, Json(carries).dump());
  }

  void row(const std::string& title) {
    x_ = 0;
    y_ += board_["panels"].empty() ? 0 : kHeight;
    board_["panels"].push_back({{"id", ++id_},
                                {"type", "row"},
                                {"title", title},
                                {"collapsed", false},
                                {"gridPos", {{"h", 1}, {"w", kColumns}, {"x", 0}, {"y", y_}}},
                                {"panels", Json::array()}});
    ++y_;
  }

  void panel(const std::string& title, const std::string& description, const char* unit,
             const std::vector<Query>& queries, double red_from = 0) {
    constexpr int kWidth = 8;
    if (x_ + kWidth > kColumns) {
      x_ = 0;
      y_ += kHeight;
    }
    Json defaults = {{"unit", unit}, {"min", 0}};
    if (red_from > 0)
      defaults["thresholds"] = {
          {"mode", "absolute"},
          {"steps",
           {{{"color", "green"}, {"value", nullptr}}, {{"color", "red"}, {"value", red_from}}}}};
    Json targets = Json::array();
    for (const Query& query : queries)
      targets.push_back({{"refId", std::string(1, static_cast<char>('A' + targets.size()))},
                         {"expr", query.expression},
                         {"legendFormat", query.legend}});
    board_["panels"].push_back(
        {{"id", ++id_},
         {"type", "timeseries"},
         {"title", title},
         {"description", description},
         {"gridPos", {{"h", kHeight}, {"w", kWidth}, {"x", x_}, {"y", y_}}},
         {"datasource", source()},
         {"fieldConfig", {{"defaults", defaults}, {"overrides", Json::array()}}},
         {"options",
          {{"legend", {{"displayMode", "list"}, {"placement", "bottom"}}},
           {"tooltip", {{"mode", "multi"}, {"sort", "desc"}}}}},
         {"targets", targets}});
    x_ += kWidth;
  }

  void put_carried(const Carried& carried) {
    std::string queues;
    for (const int queue : carried.queues)
      queues += (queues.empty() ? "" : ", ") + std::to_string(queue);
    row(fmt::format("{}: queue {}, DSCP {}", carried.name, queues, carried.dscps));
    const auto sum = [&](const char* what) {
      return fmt::format("sum by (switch) ({})",
                         series(fmt::format("dlcp_switch_queue_{}:rate5m", what), carried.name));
    };
    panel(carried.name + ": packets", "Packets that leave through the queue, per switch.", "pps",
          {{sum("packets"), "{{switch}}"}});
    std::vector<Query> drops;
    if (!carried.shed.empty() && counted(watches_, Counter::kEarlyDrops)) {
      drops.push_back({sum("early_drops"), "{{switch}} early: " + carried.shed});
      drops.push_back({sum("tail_drops"), "{{switch}} full queue: any of its classes"});
    } else {
      drops.push_back({sum("drops"), "{{switch}}"});
    }
    panel(carried.name + ": drops",
          carried.part == Part::kSheds
              ? "Early drops are within the jobs' loss budgets; drops of a full queue are not."
              : "No drops are planned in this queue.",
          "pps", drops);
    if (carried.marks && counted(watches_, Counter::kMarks))
      panel(carried.name + ": ECN marks", "Senders slow down for each mark.", "pps",
            {{sum("marks"), "{{switch}}"}});
    if (counted(watches_, Counter::kWatermark))
      panel(
          carried.name + ": depth",
          fmt::format(
              "Largest depth of any port, relative to the planned limit ({}{}).",
              bytes_text(carried.limit_min),
              carried.limit_max > carried.limit_min ? " to " + bytes_text(carried.limit_max) : ""),
          "percentunit",
          {{fmt::format("max by (switch) ({})",
                        series("dlcp_switch_queue_depth:ratio", carried.name)),
            "{{switch}}"}},
          0.9);
    if (!carried.shed.empty() && counted(watches_, Counter::kEarlyDrops))
      panel(carried.name + ": share shed",
            "Early drops, in terms of all that may be lost in this queue; above 100% protected "
            "packets go.",
            "percentunit",
            {{fmt::format("max by (switch) ({})",
                          series("dlcp_switch_queue_shed:ratio", carried.name)),
              "{{switch}}"}},
            0.9);
  }

  void put_others() {
    row("Beside DLCP's queues");
    const bool pfc = std::any_of(watches_.begin(), watches_.end(), [](const Watch& watch) {
      return watch.names != nullptr && watch.names->pfc;
    });
    if (pfc)
      panel("Pause frames",
            "Pause frames for DLCP's priorities stop traffic that may be dropped: none should "
            "arrive.",
            "pps",
            {{"sum by (switch, priority) (dlcp_switch_pfc_frames:rate5m{" + matchers_ +
                  ",of=\"dlcp\"})",
              "{{switch}} DLCP's priority {{priority}}"},
             {"sum by (switch, priority) (dlcp_switch_pfc_frames:rate5m{" + matchers_ +
                  ",of=\"site\"})",
              "{{switch}} the site's priority {{priority}}"}});
    const bool lossless = std::any_of(watches_.begin(), watches_.end(),
                                      [](const Watch& watch) { return !watch.lossless.empty(); });
    if (lossless)
      panel("Drops of lossless queues", "Queues of the site, which should never drop.", "pps",
            {{"sum by (switch, queue) (dlcp_switch_lossless_drops:rate5m{" + matchers_ + "})",
              "{{switch}} queue {{queue}}"}});
    if (counted(watches_, Counter::kTrims))
      panel("Trimmed packets",
            "Packets cut to their headers instead of being dropped, if trimming is configured.",
            "pps",
            {{"sum by (switch, carries) (dlcp_switch_queue_trims:rate5m{" + matchers_ + "})",
              "{{switch}} {{carries}}"}});
  }

  const std::vector<Watch>& watches_;
  Json board_;
  std::string matchers_;
  int id_ = 0, x_ = 0, y_ = 0;
};

}  // namespace

std::string dashboard_text(const std::string& fabric, const std::vector<Watch>& watches) {
  return DashboardBuilder(fabric, watches).run();
}

}  // namespace dlcp::fabric::telemetry
