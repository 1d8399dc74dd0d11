// A YAML document as a plain tree in which every value and key has its line number. Only
// yaml_tree.cc uses the YAML library, and it catches the library's exceptions. Aliases and merge
// keys are expanded, within bounds. Several documents, duplicate keys and keys that are not scalars
// are rejected.
#pragma once

#include <string>
#include <vector>

#include "switch/model/problem.h"

namespace dlcp::fabric {

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;
  std::string text;     // scalars, as written
  bool quoted = false;  // scalars
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;  // in file order

  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  int line = 0;
  YamlNode value;
};

Checked<YamlNode> parse_yaml(const std::string& file, const std::string& text);

}  // namespace dlcp::fabric
