#include "switch/vendors/tree/wanted.h"

#include <fmt/format.h>

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <set>

#include "switch/vendors/words.h"

namespace dlcp::fabric::tree {
namespace {

using Json = nlohmann::json;
using Data = kainjow::mustache::data;

Data data_of(const Json& json) {
  if (json.is_object()) {
    Data object{Data::type::object};
    for (const auto& [key, value] : json.items())
      object.set(key, data_of(value));
    return object;
  }
  if (json.is_array()) {
    Data list{Data::type::list};
    for (const auto& item : json)
      list << data_of(item);
    return list;
  }
  if (json.is_boolean())
    return Data{json.get<bool>() ? Data::type::bool_true : Data::type::bool_false};
  return Data{json.is_string() ? json.get<std::string>() : json.dump()};
}

class Maker {
 public:
  Maker(const Target& target, const SwitchPlan& plan, const Document& document)
      : target_(target), plan_(plan), document_(document) {
    for (const DscpRow& row : plan.dscp)
      ours_.push_back(row.owner == Owner::kDlcp);
    for (const auto& group : plan.groups)
      for (const auto& queue : group.queues)
        queues_.insert(queue.queue);
  }

  Wanted run() {
    wanted_.parts.push_back({"10-definitions", {}});
    Json whole = plan_.groups.empty()
                     ? Json::object()
                     : queues_context(target_, plan_, document_, plan_.groups.front());
    add(definitions(), "switch", whole);
    add(definitions(), "features", features_context(plan_, document_));
    if (plan_.features.pfc_watchdog && document_.pfc_profiles.empty())
      refuse("no congestion notification profile is in the imported configuration",
             plan_.site->source, "the profile that has PFC on", "leave pfc_watchdog out");
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      const auto& group = plan_.groups[i];
      wanted_.parts.push_back({fmt::format("20-ports-{:02}-{}", i + 1,
                                           group.group.role == PortRole::kHost ? "host" : "fabric"),
                               {}});
      put_group(group);
    }
    return std::move(wanted_);
  }

 private:
  Statements& definitions() { return wanted_.parts.front().statements; }

  void refuse(std::string what, std::string seen, std::string expected, std::string hint) {
    wanted_.problems.push_back(
        refusal(plan_, std::move(what), std::move(seen), std::move(expected), std::move(hint)));
  }

  // The statements that a section of the target's templates makes of this.
  Statements made(const std::string& section, const Json& context) {
    const auto found = target_.templates.find(section);
    if (found == target_.templates.end()) return {};
    kainjow::mustache::mustache text{found->second};
    text.set_custom_escape([](const std::string& raw) { return raw; });
    Reader reader = target_.reader;
    if (reader.syntax == Syntax::kJson) reader.syntax = Syntax::kFlat;  // templates are lines
    if (reader.syntax == Syntax::kFlat) reader.prefix.clear();
    reader.roots = {""};
    auto read = read_statements(reader, target_.os + ".mustache", text.render(data_of(context)));
    return read.value ? std::move(*read.value) : Statements{};
  }

  void add(Statements& to, const std::string& section, const Json& context) {
    for (auto& statement : made(section, context)) {
      statement.line = 0;
      if (known_.insert(statement.text).second) to.push_back(std::move(statement));
    }
  }

  // "10", "8,10-12", "af11 cs1": one of them is DLCP's.
  bool holds_ours(std::string list) const {
    std::replace(list.begin(), list.end(), ',', ' ');
    for (const auto& word : words_of(list)) {
      const auto dscp = dscp_of(word);
      if (dscp && ours_[static_cast<std::size_t>(*dscp)]) return true;
    }
    return false;
  }

  bool is_our_queue(const std::string& name) const {
    const auto known = document_.queue_of.find(name);
    if (known != document_.queue_of.end()) return queues_.count(known->second) != 0;
    return name.size() == 1 && queues_.count(name[0] - '0') != 0;
  }

  bool is_left_out(const ObjectKind& kind, std::string_view rest) const {
    for (const Pattern& pattern : kind.renames)
      if (pattern.match(rest)) return true;
    for (const Pattern& pattern : kind.left_out) {
      std::size_t taken = 0;
      const auto captures = pattern.begins(rest, taken);
      if (!captures) continue;
      for (const auto& [hole, value] : *captures) {
        if (hole == "dscp" && holds_ours(value)) return true;
        if ((hole == "queue" || hole == "class") && is_our_queue(value)) return true;
      }
    }
    return false;
  }

  // The site's object under a name of DLCP's, without what DLCP takes.
  Statements copy_of(const ObjectKind& kind, const std::string& base, const std::string& name) {
    Statements copy;
    if (base.empty()) return copy;
    const auto from = kind.root.filled({{"name", base}});
    const auto to = kind.root.filled({{"name", name}});
    for (const Statement& statement : document_.statements) {
      if (!is_under(statement.text, from)) continue;
      std::string_view rest = std::string_view(statement.text).substr(from.size());
      while (!rest.empty() && (rest.front() == ' ' || rest.front() == '>'))
        rest.remove_prefix(1);
      if (is_left_out(kind, rest)) continue;
      copy.push_back({to + statement.text.substr(from.size()), 0});
    }
    return copy;
  }

  Statements object(const ObjectKind& kind, const std::string& base, Json context,
                    const std::string& name, int number) {
    Statements copy = copy_of(kind, base, name);
    context["name"] = name;
    context["base"] = base;
    context["number"] = number;
    context["fresh"] = copy.empty();
    Statements ours = made(kind.name, context);
    Statements& first = kind.ours_first ? ours : copy;
    Statements& second = kind.ours_first ? copy : ours;
    first.insert(first.end(), second.begin(), second.end());
    return std::move(first);
  }

  // An object of DLCP's for this base and context; equal ones are one.
  std::string named(const ObjectKind& kind, const std::string& base, const Json& context) {
    auto& number = numbers_[kind.name + "\n" + base + "\n" + context.dump()];
    const bool is_new = number == 0;
    if (is_new) number = ++counts_[kind.name + "\n" + base];
    auto name = fmt::format("DLCP-{}{}-{}", kind.tag, number, base.empty() ? "none" : base);
    if (is_new)
      for (auto& statement : object(kind, base, context, name, number))
        if (known_.insert(statement.text).second) definitions().push_back(std::move(statement));
    return name;
  }

  std::string site_object(const std::string& kind, const std::string& port) const {
    const auto ports = document_.bound.find(kind);
    if (ports != document_.bound.end()) {
      const auto found = ports->second.find(port);
      if (found != ports->second.end()) return found->second;
    }
    const auto shared = document_.shared.find(kind);
    return shared == document_.shared.end() ? "" : shared->second;
  }

  // Ports whose objects of the site's are the same get the same statements, each with its name.
  void put_group(const PortGroupPlan& group) {
    constexpr std::string_view kPort = "{port}";
    const Json queues = queues_context(target_, plan_, document_, group);
    Json dscps = dscp_context(target_, plan_, document_, group.group);
    if (group.group.trust == Trust::kRemarked) dscps["remarked"] = true;
    std::map<std::vector<std::string>, Statements> made_for;  // by the site's objects
    for (const auto& port : group.group.ports) {
      std::vector<std::string> bases;
      for (const ObjectKind& kind : target_.objects)
        bases.push_back(site_object(kind.name, port));
      if (!check_classifier(port, bases)) return;
      auto& statements = made_for[bases];
      if (statements.empty()) {
        Json context = queues;
        context["port"] = kPort;
        for (std::size_t i = 0; i < bases.size(); ++i) {
          const ObjectKind& kind = target_.objects[i];
          context[kind.name] = named(kind, bases[i], kind.name == "classifier" ? dscps : queues);
        }
        statements = made("port", context);
      }
      for (Statement statement : statements) {
        for (auto at = statement.text.find(kPort); at != std::string::npos;
             at = statement.text.find(kPort, at + port.size()))
          statement.text.replace(at, kPort.size(), port);
        statement.line = 0;
        if (known_.insert(statement.text).second)
          wanted_.parts.back().statements.push_back(std::move(statement));
      }
    }
  }

  bool check_classifier(const std::string& port, const std::vector<std::string>& bases) {
    for (std::size_t i = 0; i < bases.size(); ++i) {
      if (target_.objects[i].name != "classifier" || bases[i] == document_.classifier ||
          document_.statements.empty())
        continue;
      refuse("port " + port + " has another classifier than most ports",
             bases[i].empty() ? "none" : bases[i],
             document_.classifier.empty() ? "none" : document_.classifier,
             "leave the port out of the intent, or give it the classifier that the others have");
      return false;
    }
    return true;
  }

  const Target& target_;
  const SwitchPlan& plan_;
  const Document& document_;
  std::vector<bool> ours_;  // by DSCP
  std::set<int> queues_;    // DLCP's
  std::set<std::string> known_;
  std::map<std::string, int> numbers_, counts_;
  Wanted wanted_;
};

}  // namespace

Wanted wanted_statements(const Target& target, const SwitchPlan& plan, const Document& document) {
  return Maker(target, plan, document).run();
}

}  // namespace dlcp::fabric::tree
