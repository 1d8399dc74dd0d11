// What is in a running configuration, or is missing from it, that would make the import wrong: it
// is refused rather than guessed at.
#include <algorithm>

#include "switch/vendors/tree/target.h"

namespace dlcp::fabric::tree {
namespace {

class Doubts {
 public:
  Doubts(const Target& target, const Document& document, const NamedText& running)
      : target_(target), document_(document), running_(running) {}

  std::vector<Problem> run() {
    for (const Statement& statement : document_.statements) {
      for (const Refusal& row : target_.refusals)
        if (applies(row, statement))
          fault(&statement, with_holes_filled(row.why, *row.pattern.match(statement.text)), "",
                with_holes_filled(row.hint, words()));
      check_words(statement);
    }
    for (const ObjectKind& kind : target_.objects) {
      if (!kind.copied) continue;
      if (const auto ports = document_.bound.find(kind.name); ports != document_.bound.end())
        for (const auto& [port, name] : ports->second)
          check_defined(kind, name);
      if (const auto shared = document_.shared.find(kind.name); shared != document_.shared.end())
        check_defined(kind, shared->second);
    }
    return std::move(problems_);
  }

 private:
  void fault(const Statement* at, std::string what, std::string expected, std::string hint) {
    if (problems_.size() > 20) return;
    problems_.push_back({Severity::kError, running_.file, at == nullptr ? 0 : at->line,
                         std::move(what), at == nullptr ? "" : at->text, std::move(expected),
                         std::move(hint)});
  }

  bool applies(const Refusal& row, const Statement& statement) const {
    const auto held = row.pattern.match(statement.text);
    if (!held || statement.text == row.but) return false;
    if (!row.beside) return true;
    const auto name = held->find("name");
    if (name != held->end() && is_own(name->second)) return false;
    return std::any_of(
        document_.statements.begin(), document_.statements.end(), [&](const Statement& other) {
          const auto also = row.beside->match(other.text);
          return also && (name == held->end() || also->find("name")->second == name->second);
        });
  }

  // Those that the site is seen to use, or what is meant where it is not.
  Captures words() const {
    Captures words;
    for (const auto& [name, word] : target_.words)
      words[name] = word.otherwise;
    for (const auto& [name, text] : document_.words)
      words[name] = text;
    return words;
  }

  // Names are one word, and a port is one port.
  void check_words(const Statement& statement) {
    for (const Scope& row : target_.scopes) {
      std::size_t taken = 0;
      const auto held = row.pattern.begins(statement.text, taken);
      if (!held) continue;
      for (const auto& [hole, value] : *held) {
        if (value.front() == '"')
          return fault(&statement, "a name with spaces in it is not followed", "names of one word",
                       "rename it on the switch");
        if (hole == "port" && value.find_first_of("*[<") != std::string::npos)
          return fault(&statement,
                       "ports are given their QoS by a wildcard, which single ones "
                       "cannot be taken out of",
                       "single ports", "write it out per port");
      }
    }
  }

  // What ports have is in the configuration, or built into the system: those are called default.
  void check_defined(const ObjectKind& kind, const std::string& name) {
    if (name.empty() || name.find("default") != std::string::npos) return;
    if (!checked_.insert(kind.name + " " + name).second) return;
    const auto root = kind.root.filled({{"name", name}});
    const auto& all = document_.statements;
    if (std::any_of(all.begin(), all.end(),
                    [&root](const Statement& one) { return is_under(one.text, root); }))
      return;
    fault(nullptr, "ports have the " + kind.title + " " + name + ", which is not in this file",
          "all of the running configuration", take_with(target_));
  }

  const Target& target_;
  const Document& document_;
  const NamedText& running_;
  std::set<std::string> checked_;
  std::vector<Problem> problems_;
};

}  // namespace

std::string take_with(const Target& target) {
  if (!target.take_with.empty()) return "take it with: " + target.take_with;
  const auto said = [&target](const char* key) {
    const auto found = target.session.find(key);
    return found == target.session.end() ? std::string() : found->second;
  };
  std::string text = said("show");
  if (const auto paths = said("gnmi"); !paths.empty()) {
    text = "gnmic get --path " + paths + " --type config --encoding json_ietf";
    for (auto at = text.find(" /", 17); at != std::string::npos; at = text.find(" /", at + 9))
      text.replace(at, 1, " --path ");
  }
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at))
    text.replace(at, 1, "; ");
  return "take it with: " + text;
}

std::vector<Problem> doubts_of(const Target& target, const Document& document,
                               const NamedText& running) {
  return Doubts(target, document, running).run();
}

}  // namespace dlcp::fabric::tree
