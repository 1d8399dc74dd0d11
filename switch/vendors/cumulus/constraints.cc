// Holds the leaves that DLCP writes against what NVUE accepts: leaves, their ranges and words, from
// the NVUE command reference ("nv set qos ..."): `leaves` of switch/targets/cumulus.json. Checked
// on every render; a leaf that no row describes is refused.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "switch/targets/target_files.h"
#include "switch/vendors/cumulus/document.h"
#include "switch/vendors/numbers.h"

namespace dlcp::fabric::cumulus {
namespace {

struct Leaf {
  std::string path;  // '*' stands for one part, '#63' for one number up to 63
  std::uint64_t min = 0, max = 0;
  std::string words;  // "|a|b|": one of these instead of a number; "": a number; "*": any name
};

std::vector<Leaf> read_leaf_rows() {
  std::vector<Leaf> rows;
  for (const TargetFile& file : target_files()) {
    const auto data = nlohmann::json::parse(file.data);
    if (data.at("os") != "cumulus") continue;
    for (const auto& [path, row] : data.at("leaves").items()) {
      if (row.is_string())
        rows.push_back({path, 0, 0, row.get<std::string>()});
      else
        rows.push_back({path, row.at(0).get<std::uint64_t>(), row.at(1).get<std::uint64_t>(), ""});
    }
  }
  return rows;
}

const std::vector<Leaf>& leaf_rows() {
  static const std::vector<Leaf> kRows = read_leaf_rows();
  return kRows;
}

std::string_view next_part(std::string_view& rest) {
  const auto slash = rest.find('/');
  const auto part = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  return part;
}

bool fits(const Leaf& leaf, std::string_view path) {
  std::string_view pattern = leaf.path;
  while (!pattern.empty() && !path.empty()) {
    const auto wanted = next_part(pattern);
    const auto part = next_part(path);
    if (wanted == "*") continue;
    if (wanted.starts_with("#")) {
      const auto number = number_of(part);
      if (!number || part.size() > 2 || *number > *number_of(wanted.substr(1))) return false;
    } else if (wanted != part) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

std::string expected_of(const Leaf& leaf, const std::string& value) {
  const std::string_view words = leaf.words;
  if (words == "*") return value.empty() ? "a name" : "";
  if (!words.empty())
    return words.find("|" + value + "|") != words.npos ? "" : fmt::format("one of {}", words);
  const bool number =
      !value.empty() && value.size() < 19 && value.find_first_not_of("0123456789") == value.npos;
  if (number && std::stoull(value) >= leaf.min && std::stoull(value) <= leaf.max) return "";
  return fmt::format("{}..{}", leaf.min, leaf.max);
}

}  // namespace

std::vector<Problem> check_leaves(const std::vector<Patch>& patches) {
  std::vector<Problem> problems;
  for (const auto& patch : patches)
    for (const auto& change : patch.leaves) {
      if (!change.after) continue;
      std::string expected = "a leaf that NVUE has";
      for (const Leaf& leaf : leaf_rows())
        if (fits(leaf, change.path)) expected = expected_of(leaf, *change.after);
      if (expected.empty()) continue;
      problems.push_back({Severity::kError, "", 0, change.path + " would not be accepted by NVUE",
                          *change.after, expected,
                          "lower what leads to this value in the intent file"});
    }
  return problems;
}

}  // namespace dlcp::fabric::cumulus
