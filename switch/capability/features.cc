#include "switch/capability/features.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "switch/capability/capability.h"
#include "switch/model/text/joined.h"
#include "switch/targets/target_files.h"

namespace dlcp::fabric {
namespace {

template <class T>
void take(const nlohmann::json& data, const char* key, T& value) {
  value = data.value(key, value);
}

std::vector<FeatureRow> read_rows() {
  std::vector<FeatureRow> rows;
  for (const TargetFile& file : target_files()) {
    const auto data = nlohmann::json::parse(file.data);
    for (const auto& one : data.value("features", nlohmann::json::array())) {
      FeatureRow row;
      row.os = data.at("os");
      row.feature = one.at("feature");
      row.source = one.at("source");
      take(one, "since", row.since);
      take(one, "asics", row.asics);
      take(one, "modes", row.modes);
      take(one, "min", row.min);
      take(one, "max", row.max);
      take(one, "step", row.step);
      take(one, "queue", row.queue);
      take(one, "own_rows", row.own_rows);
      take(one, "how", row.how);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

bool holds(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// "sonic since 202505 on spectrum4, tomahawk5".
std::string scope_of(const FeatureRow& row) {
  return row.os + (row.since.empty() ? "" : " since " + row.since) +
         (row.asics.empty() ? "" : " on " + joined(row.asics));
}

}  // namespace

const std::vector<FeatureRow>& feature_rows() {
  static const auto kRows = read_rows();
  return kRows;
}

Checked<FeatureRow> find_feature(const FeatureAsked& asked) {
  Checked<FeatureRow> result;
  std::string others;
  for (const FeatureRow& row : feature_rows()) {
    if (row.feature != asked.feature) continue;
    if (!asked.mode.empty() && !holds(row.modes, asked.mode)) continue;
    others += (others.empty() ? "" : "; ") + scope_of(row);
    if (row.os != asked.os) continue;
    if (!row.asics.empty() && !holds(row.asics, asked.asic)) continue;
    if (!row.since.empty() && !is_since(asked.os, asked.version, row.since)) continue;
    result.value = row;
    return result;
  }
  Problem problem;
  problem.what =
      fmt::format("{}{} is not available in {} {} on {}", asked.feature,
                  asked.mode.empty() ? "" : ": " + asked.mode, asked.os, asked.version, asked.asic);
  problem.seen = asked.mode.empty() ? asked.feature : asked.mode;
  problem.expected = others.empty() ? "no target that dlcp-switch knows has it" : others;
  problem.hint = fmt::format(
      "leave {} out for this switch (DLCP works without it), or upgrade the switch", asked.feature);
  return Checked<FeatureRow>::failed(std::move(problem));
}

std::string feature_table_text() {
  std::string text =
      "| feature | system | since | ASICs | configuration |\n|---|---|---|---|---|\n";
  for (const FeatureRow& row : feature_rows())
    text += fmt::format("| {}{} | {} | {} | {} | {} |\n", row.feature,
                        row.modes.empty() ? "" : " (" + joined(row.modes) + ")", row.os,
                        row.since.empty() ? "any" : row.since,
                        row.asics.empty() ? "any" : joined(row.asics), row.how);
  return text;
}

}  // namespace dlcp::fabric
