// Reads a section of an intent file: unknown and missing keys are reported at once, and a value
// that cannot be converted is reported with its key, its text and a correct form.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/model/problem.h"
#include "switch/model/text/yaml_tree.h"

namespace dlcp::fabric {

// State that all readers of one file share: the list of problems.
struct Reading {
  std::string file;
  std::vector<Problem> problems;

  void fail(int line, std::string what, std::string seen = "", std::string expected = "",
            std::string hint = "");
};

class Section {
 public:
  // `section` is the name in the key table, `where` the name in messages: "switch 'leaf1'".
  Section(Reading& reading, const YamlNode& node, std::string_view section, std::string where);

  bool usable() const { return usable_; }  // a map, with every required key
  int line() const { return node_.line; }
  const std::string& where() const { return where_; }
  const YamlNode* find(std::string_view key) const { return node_.find(key); }
  const std::vector<YamlEntry>& entries() const { return node_.entries; }

  std::optional<std::string> text(std::string_view key);

  // The key's value through `read` (text -> optional<T>); nullopt if it is absent or wrong.
  template <class Read>
  auto value(std::string_view key, Read read, std::string_view expected) -> decltype(read("")) {
    const auto written = text(key);
    if (!written) return std::nullopt;
    auto result = read(*written);
    if (!result) report_wrong_value(key, *written, expected);
    return result;
  }

  // The items of a list; a single value counts as a list of one item.
  std::vector<const YamlNode*> list(std::string_view key);
  // A list of scalars, each converted by `read`; wrong ones are reported and left out.
  template <class Read>
  auto values(std::string_view key, Read read, std::string_view expected) {
    std::vector<typename decltype(read(""))::value_type> all;
    for (const YamlNode* item : list(key)) {
      const bool scalar = item->kind == YamlNode::Kind::kScalar;
      auto result = scalar ? read(item->text) : decltype(read(""))();
      if (result)
        all.push_back(*result);
      else
        report_wrong_value(key, scalar ? item->text : kind_of(*item), expected, item->line);
    }
    return all;
  }

  void report_wrong_value(std::string_view key, const std::string& seen, std::string_view expected,
                          int line = 0);
  static const char* kind_of(const YamlNode& node);

 private:
  void check_keys(std::string_view section);

  Reading& reading_;
  const YamlNode& node_;
  std::string where_;
  bool usable_ = true;
};

}  // namespace dlcp::fabric
