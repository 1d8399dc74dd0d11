#include "switch/vendors/tree/target/limits.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace dlcp::fabric::tree {
namespace {

using Json = nlohmann::json;

bool fits(const Range& range, const std::string& text) {
  if (!range.words.empty())
    return range.words == "*" || range.words.find("|" + text + "|") != std::string::npos;
  const bool negative = text.starts_with("-");
  const bool number = text.size() > (negative ? 1U : 0U) && text.size() < 19 &&
                      text.find_first_not_of("0123456789", negative ? 1 : 0) == std::string::npos;
  return number && std::stoll(text) >= range.min && std::stoll(text) <= range.max;
}

Refusal refusal_of(const Json& row) {
  const bool named = row.is_object();
  const auto text = [&](std::size_t at, const char* name) {
    return (named ? row.at(name) : row.at(at)).get<std::string>();
  };
  Refusal refusal{Pattern(text(0, "pattern")), text(1, "why"), text(2, "hint"), std::nullopt,
                  std::nullopt};
  if (named ? row.contains("but") : row.size() > 3) refusal.but = Pattern(text(3, "but"));
  if (!named) return refusal;
  if (row.contains("beside")) refusal.beside = Pattern(text(0, "beside"));
  refusal.unless_named_so = row.value("unless_named_so", false);
  return refusal;
}

}  // namespace

std::vector<Range> ranges_of(const Json& data) {
  std::vector<Range> list;
  for (const auto& row : data.value("ranges", Json::array())) {
    Range range{Pattern(row.at(0).get<std::string>()), 0, 0, ""};
    if (row.at(1).is_string()) {
      range.words = row.at(1).get<std::string>();
    } else {
      range.min = row.at(1).get<std::int64_t>();
      range.max = row.at(2).get<std::int64_t>();
    }
    list.push_back(std::move(range));
  }
  return list;
}

std::vector<std::pair<Pattern, Pattern>> references_of(const Json& data) {
  std::vector<std::pair<Pattern, Pattern>> list;
  for (const auto& row : data.value("refers", Json::array()))
    list.emplace_back(Pattern(row.at(0).get<std::string>()), Pattern(row.at(1).get<std::string>()));
  return list;
}

void add_refusals(std::vector<Refusal>& list, const Json& data, const char* key, bool warns) {
  for (const auto& row : data.value(key, Json::array())) {
    list.push_back(refusal_of(row));
    list.back().warns = warns;
  }
}

Judged judge_limits(const std::vector<Range>& ranges, const std::string& statement) {
  Judged judged;
  for (const Range& range : ranges) {
    const auto captures = range.pattern.match(statement);
    if (!captures) continue;
    judged.described = true;
    const auto found = captures->find("value");
    const std::string text = found == captures->end() ? "" : found->second;
    if (fits(range, text)) continue;
    judged.faults.push_back({text, range.words.empty() ? fmt::format("{}..{}", range.min, range.max)
                                                       : "one of " + range.words});
  }
  return judged;
}

}  // namespace dlcp::fabric::tree
