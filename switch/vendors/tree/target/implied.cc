// The system's defaults where its objects state nothing, as statements in addition to the site's.
#include <algorithm>
#include <set>

#include "switch/vendors/tree/target/target.h"

namespace dlcp::fabric::tree {
namespace {

// A statement without its value.
std::string_view leaf_of(std::string_view statement) {
  return statement.substr(0, statement.rfind(' '));
}

class DefaultsOf {
 public:
  DefaultsOf(const ObjectKind& kind, const Statements& said) : kind_(kind) {
    if (!kind.usual.empty()) names_.insert(kind.usual);
    for (const Statement& statement : said) {
      std::size_t taken = 0;
      const auto held = kind.root.begins(statement.text, taken);
      if (!held || is_own(held->at("name"))) continue;
      names_.insert(held->at("name"));
      leaves_.insert(leaf_of(statement.text));
      texts_.insert(statement.text);
    }
  }

  void add_to(Statements& to) const {
    for (const auto& name : names_)
      for (const Implied& one : kind_.implied) {
        if (one.usual_alone && name != kind_.usual) continue;
        const auto root = kind_.root.filled({{"name", name}}) + " ";
        auto text = root + one.text;
        if (leaves_.count(leaf_of(text)) != 0) continue;
        if (!one.unless.empty() && texts_.count(root + one.unless) != 0) continue;
        to.push_back({std::move(text), 0, true});
      }
  }

 private:
  const ObjectKind& kind_;
  std::set<std::string> names_;
  std::set<std::string_view> leaves_;
  std::set<std::string, std::less<>> texts_;
};

}  // namespace

Statements implied_statements(const Target& target, const Statements& said) {
  Statements implied;
  for (const ObjectKind& kind : target.objects)
    if (!kind.implied.empty()) DefaultsOf(kind, said).add_to(implied);
  return implied;
}

}  // namespace dlcp::fabric::tree
