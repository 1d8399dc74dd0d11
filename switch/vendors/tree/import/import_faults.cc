// Finds contents of a running configuration, and missing parts, that would make the import wrong.
// Such a configuration is rejected.
#include <algorithm>

#include "switch/vendors/tree/import/facts.h"

namespace dlcp::fabric::tree {
namespace {

class ImportFaults {
 public:
  ImportFaults(const Target& target, const Document& document, const NamedText& running)
      : target_(target), document_(document), running_(running) {}

  std::vector<Problem> run() {
    for (const Statement& statement : document_.statements) {
      for (const std::size_t id : target_.refusal_index.may_match(statement.text)) {
        const Refusal& row = target_.refusals[id];
        if (row.warns) {
          warn(row, statement);
          continue;
        }
        if (const auto held = refused_by(row, statement, document_.statements))
          fault(&statement, with_holes_filled(row.why, *held), "",
                with_holes_filled(with_holes_filled(row.hint, *held), words()));
      }
      check_words(statement);
      check_referred(statement);
    }
    for (const ObjectKind& kind : target_.objects) {
      if (!kind.copied) continue;
      if (const auto ports = document_.bound.find(kind.name); ports != document_.bound.end())
        for (const auto& [port, name] : ports->second)
          check_defined(kind, name);
      if (const auto shared = document_.shared.find(kind.name); shared != document_.shared.end())
        check_defined(kind, shared->second);
      check_used(kind);
    }
    check_any_qos();
    return std::move(problems_);
  }

 private:
  // The site may leave its ports at the system's defaults, or the file may be truncated before the
  // port settings. Systems that print a known last line are checked by it.
  void check_any_qos() {
    if (!document_.bound.empty() || !document_.shared.empty()) return;
    if (!target_.reader.ends_with.empty()) return;
    problems_.push_back({Severity::kWarning, running_.file, 0,
                         "no port has QoS of the site: the configuration may be truncated", "",
                         "the ports' settings, unless the site uses the system's defaults",
                         export_hint(target_)});
  }

  void fault(const Statement* at, std::string what, std::string expected, std::string hint) {
    if (problems_.size() > 20) return;
    problems_.push_back({Severity::kError, running_.file, at == nullptr ? 0 : at->line,
                         std::move(what), at == nullptr ? "" : at->text, std::move(expected),
                         std::move(hint)});
  }

  void warn(const Refusal& row, const Statement& at) {
    if (!refused_by(row, at, document_.statements) || !checked_.insert(row.why).second) return;
    problems_.push_back(
        {Severity::kWarning, running_.file, at.line, row.why, at.text, "", row.hint});
  }

  // The words that the site uses, or their default.
  Captures words() const {
    Captures words;
    for (const auto& [name, word] : target_.words)
      words[name] = word.otherwise;
    for (const auto& [name, text] : document_.words)
      words[name] = text;
    return words;
  }

  // Names must be one word, and a port must be one port.
  void check_words(const Statement& statement) {
    for (const std::size_t id : target_.scope_index.may_begin(statement.text)) {
      std::size_t taken = 0;
      const auto held = target_.scopes[id].pattern.begins(statement.text, taken);
      if (!held) continue;
      for (const auto& [hole, value] : *held) {
        if (value.front() == '"')
          return fault(&statement, "names with spaces are not supported", "names without spaces",
                       "rename it on the switch");
        if (hole == "port" && value.find_first_of("*[<") != std::string::npos)
          return fault(&statement,
                       "a wildcard sets the QoS of ports, so single ports cannot be changed",
                       "single ports", "write the statements out for each port");
      }
    }
  }

  bool is_there(const std::string& root) const {
    const auto& all = document_.statements;
    return std::any_of(all.begin(), all.end(),
                       [&root](const Statement& one) { return is_under(one.text, root); });
  }

  void check_referred(const Statement& statement) {
    for (const auto& [pattern, object] : target_.refers) {
      const auto held = pattern.match(statement.text);
      if (!held) continue;
      const auto root = object.filled(*held);
      if (root.find("default") != std::string::npos || !checked_.insert(root).second) continue;
      if (!is_there(root))
        fault(&statement, root + " is not in this file", "the whole running configuration",
              export_hint(target_));
    }
  }

  // Objects of a kind that no port uses, if ports use no other object either: the ports may be
  // missing from the file.
  void check_used(const ObjectKind& kind) {
    if (document_.bound.count(kind.name) != 0 || document_.shared.count(kind.name) != 0) return;
    for (const Statement& statement : document_.statements) {
      std::size_t taken = 0;
      const auto object = kind.root.begins(statement.text, taken);
      if (!object || statement.implied || is_own(object->at("name"))) continue;
      problems_.push_back({Severity::kWarning, running_.file, statement.line,
                           "no port has a " + kind.title + ": the configuration may be truncated",
                           statement.text.substr(0, taken), "also the ports that use it",
                           export_hint(target_)});
      return;
    }
  }

  // Objects that ports use must be in the configuration, or be built in: those have "default" in
  // their name.
  void check_defined(const ObjectKind& kind, const std::string& name) {
    if (name.empty() || name.find("default") != std::string::npos) return;
    if (!checked_.insert(kind.name + " " + name).second) return;
    const auto root = kind.root.filled({{"name", name}});
    if (is_there(root)) return;
    fault(nullptr, "ports have the " + kind.title + " " + name + ", which is not in this file",
          "the whole running configuration", export_hint(target_));
  }

  const Target& target_;
  const Document& document_;
  const NamedText& running_;
  std::set<std::string> checked_;
  std::vector<Problem> problems_;
};

}  // namespace

std::optional<Captures> refused_by(const Refusal& row, const Statement& statement,
                                   const Statements& all) {
  auto held = row.pattern.match(statement.text);
  if (!held || (row.but && row.but->match(statement.text))) return std::nullopt;
  if (row.unless_named_so) {
    const auto &id = held->at("id"), &port = held->at("port");
    if (id == port || id.starts_with(port + ".")) return std::nullopt;
  }
  if (!row.beside) return held;
  const auto name = held->find("name");
  if (name != held->end() && is_own(name->second)) return std::nullopt;
  const bool there = std::any_of(all.begin(), all.end(), [&](const Statement& other) {
    if (other.text == statement.text) return false;
    const auto also = row.beside->match(other.text);
    if (!also || name == held->end()) return also.has_value();
    const auto other_name = tree::held(*also, "name");
    return other_name == name->second || other_name.starts_with(name->second + ".");
  });
  return there ? held : std::nullopt;
}

std::string export_hint(const Target& target) {
  if (!target.export_command.empty()) return "export it with: " + target.export_command;
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
  return "export it with: " + text;
}

std::vector<Problem> import_faults(const Target& target, const Document& document,
                                   const NamedText& running) {
  return ImportFaults(target, document, running).run();
}

}  // namespace dlcp::fabric::tree
