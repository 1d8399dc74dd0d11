#include "cli/simulate/simulate_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_line/output/document.h"
#include "cli/command_line/terminal.h"

namespace dlcp::cli {
namespace {

std::string seeds_text(const simulate::Figure& figure) {
  if (figure.seeds.size() == 1) return fmt::format("{}", figure.seeds.front());
  return fmt::format("{} to {}", figure.seeds.front(), figure.seeds.back());
}

// Half the interval's width, if there is one.
std::string value_text(const simulate::FigureRow& row) {
  const double half = (row.value.high - row.value.low) / 2;
  if (half == 0) return fmt::format("{:.4g}", row.value.mean);
  return half < 100 ? fmt::format("{:.4g} +- {:.2g}", row.value.mean, half)
                    : fmt::format("{:.4g} +- {:.0f}", row.value.mean, half);
}

// One table for each case: a row for each transport, a column for each metric.
std::string cases_text(const simulate::Figure& figure) {
  std::string text;
  for (std::size_t i = 0; i < figure.rows.size();) {
    const std::string& experiment = figure.rows[i].experiment;
    Document table;
    table.headings = {experiment};
    for (; i < figure.rows.size() && figure.rows[i].experiment == experiment; ++i) {
      const auto& row = figure.rows[i];
      const std::string heading = fmt::format("{}, {}", row.metric, row.unit);
      if (table.rows.empty() || table.rows.back()[0] != row.transport)
        table.rows.push_back({row.transport});
      table.rows.back().push_back(value_text(row));
      if (table.rows.size() == 1) table.headings.push_back(heading);
    }
    text += table.to_text(output_width()) + "\n";
  }
  return text;
}

}  // namespace

std::string figure_text(const simulate::Figure& figure) {
  std::string text = wrapped(fmt::format("{}: {}", figure.name, figure.title), output_width());
  for (const auto& [name, value] : figure.parameters)
    text += wrapped(fmt::format("{}: {}", name, value), output_width(), 2);
  text += wrapped("seeds: " + seeds_text(figure), output_width(), 2) + "\n";
  text += cases_text(figure);
  for (const std::string& note : figure.notes)
    text += wrapped(note, output_width(), 2);
  return text;
}

nlohmann::ordered_json figure_json(const simulate::Figure& figure) {
  nlohmann::ordered_json json;
  json["figure"] = figure.name;
  json["title"] = figure.title;
  json["parameters"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : figure.parameters)
    json["parameters"][name] = value;
  json["seeds"] = figure.seeds;
  json["rows"] = nlohmann::ordered_json::array();
  for (const auto& row : figure.rows) {
    nlohmann::ordered_json one;
    one["case"] = row.experiment;
    one["transport"] = row.transport;
    one["metric"] = row.metric;
    one["unit"] = row.unit;
    one["value"] = row.value.mean;
    one["low"] = row.value.low;
    one["high"] = row.value.high;
    json["rows"].push_back(one);
  }
  json["notes"] = figure.notes;
  return json;
}

std::string checks_text(const std::vector<simulate::Check>& checks) {
  Document table;
  table.headings = {"check", "expected", "measured", "deviation", "tolerance", "ok"};
  for (const auto& check : checks) {
    const double off = check.expected == 0 ? 0 : check.measured / check.expected - 1;
    table.rows.push_back(
        {check.name, fmt::format("{:.5g} {}", check.expected, check.unit),
         fmt::format("{:.5g}", check.measured), fmt::format("{:+.1f}%", 100 * off),
         check.tolerance == 0 ? "exact" : fmt::format("{:.0f}%", 100 * check.tolerance),
         check.ok() ? "yes" : "NO"});
  }
  return table.to_text(output_width()) +
         wrapped(
             "Two further checks need a source tree: scripts/simulate-networks (as root) "
             "compares the simulator with the real plugin on networks of this kernel, and "
             "'ctest -R simulate_ns3' compares its DCTCP with ns-3.",
             output_width());
}

nlohmann::ordered_json checks_json(const std::vector<simulate::Check>& checks) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& check : checks) {
    nlohmann::ordered_json one;
    one["name"] = check.name;
    one["unit"] = check.unit;
    one["expected"] = check.expected;
    one["measured"] = check.measured;
    one["tolerance"] = check.tolerance;
    one["ok"] = check.ok();
    one["source"] = check.source;
    json.push_back(one);
  }
  return json;
}

}  // namespace dlcp::cli
