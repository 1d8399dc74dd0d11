// All keys of an intent file: the one table for detecting unknown and missing keys and for
// `dlcp-switch keys`; the JSON Schema is tested against it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlcp::fabric {

struct KeyRow {
  std::string_view section;  // "" is the top level; "switches[]" is each element of that list
  std::string_view key;
  std::string_view type;  // for readers: "rate", "list of DSCPs"
  bool required;
  std::string_view preset;  // empty: no default
  std::string_view meaning;
};

std::span<const KeyRow> intent_keys();

// The words of `candidates` most like `word`; empty when none is close.
std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates);

std::string key_table_text();  // Markdown, as README shows it

}  // namespace dlcp::fabric
