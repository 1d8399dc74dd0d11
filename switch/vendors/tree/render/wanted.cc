#include "switch/vendors/tree/render/wanted.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "switch/vendors/refuser.h"
#include "switch/vendors/text/numbers.h"
#include "switch/vendors/text/words.h"
#include "switch/vendors/tree/import/facts.h"
#include "switch/vendors/tree/import/port_faults.h"

namespace dlcp::fabric::tree {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kPort = "{port}";

class StatementMaker {
 public:
  StatementMaker(const Target& target, const SwitchPlan& plan, const Document& document)
      : target_(target), plan_(plan), document_(document) {
    for (const DscpRow& row : plan.dscp)
      ours_.push_back(row.owner == Owner::kDlcp);
    for (const auto& group : plan.groups)
      for (const auto& queue : group.queues)
        queues_.insert(queue.queue);
    used_ = queues_in_use(plan);
    port_faults_ = port_faults(target, document);
  }

  Wanted run() {
    wanted_.parts.push_back({"10-definitions", {}});
    Json whole = Json::object();
    if (!plan_.groups.empty() && target_.templates.has("switch")) {
      whole = queues_context(target_, plan_, document_, plan_.groups.front());
      whole.update(map_context(target_, plan_, document_));
    }
    add(definitions(), "switch", as_seen(whole));
    add(definitions(), "features", as_seen(features_context(target_, plan_, document_)));
    if (plan_.features.pfc_watchdog && document_.pfc_profiles.empty())
      refuse_("the imported configuration has no congestion notification profile",
              plan_.site->source, "the profile that has PFC on", "leave pfc_watchdog out");
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      const auto& group = plan_.groups[i];
      wanted_.parts.push_back({fmt::format("20-ports-{:02}-{}", i + 1,
                                           group.group.role == PortRole::kHost ? "host" : "fabric"),
                               {}});
      put_group(group);
    }
    check_sums();
    return std::move(wanted_);
  }

 private:
  // Template input, and a text that identifies it: equal texts give equal output.
  struct Seen {
    std::function<Json()> context;
    std::string text;
  };
  // `context` must remain valid while the result is used.
  static Seen as_seen(const Json& context) {
    return {[&context] { return context; }, context.dump()};
  }
  static Seen as_seen(const Seen& first, const Seen& more) {
    return {[&first, &more] {
              Json all = first.context();
              all.update(more.context());
              return all;
            },
            first.text + more.text};
  }

  Statements& definitions() { return wanted_.parts.front().statements; }

  // The statements that a section of the target's templates produces from this input.
  Statements made(const std::string& section, const Seen& seen) {
    if (!target_.templates.has(section)) return {};
    auto read = read_statements(target_.template_reader, target_.os + ".mustache",
                                target_.templates.filled(section, seen.text, seen.context));
    return read.value ? std::move(*read.value) : Statements{};
  }

  void add(Statements& to, const std::string& section, const Seen& seen) {
    for (auto& statement : made(section, seen)) {
      statement.line = 0;
      if (known_.insert(statement.text).second) to.push_back(std::move(statement));
    }
  }

  // "10", "8,10-12", "af11 cs1": true if one of them belongs to DLCP.
  bool has_own_dscp(std::string list) const {
    std::replace(list.begin(), list.end(), ',', ' ');
    for (const auto& word : words_of(list)) {
      const auto dscp = dscp_of(word);
      if (dscp && ours_[static_cast<std::size_t>(*dscp)]) return true;
    }
    return false;
  }

  bool is_among(const std::set<int>& queues, const std::string& name) const {
    const auto known = document_.queue_of.find(name);
    if (known != document_.queue_of.end()) return queues.count(known->second) != 0;
    return name.size() == 1 && queues.count(name[0] - '0') != 0;
  }

  bool is_left_out(const ObjectKind& kind, std::string_view rest) const {
    for (const Pattern& pattern : kind.renames)
      if (pattern.match(rest)) return true;
    for (const Pattern& pattern : kind.left_out) {
      std::size_t taken = 0;
      const auto captures = pattern.begins(rest, taken);
      if (!captures) continue;
      for (const auto& [hole, value] : *captures) {
        if (hole == "dscp" && has_own_dscp(value)) return true;
        if ((hole == "queue" || hole == "class") && is_among(queues_, value)) return true;
        if (hole == "queue" && kind.idle_left_out && !is_among(used_, value)) return true;
      }
    }
    return false;
  }

  // The site's object under a name of DLCP's, without the parts that DLCP replaces.
  Statements copy_of(const ObjectKind& kind, const std::string& base, const std::string& name) {
    Statements copy;
    if (base.empty()) return copy;
    const auto from = kind.root.filled({{"name", base}});
    const auto to = kind.root.filled({{"name", name}});
    for (const auto& [text, line, implied] : document_.statements)
      if (is_under(text, from) && !is_left_out(kind, inside(text, from)))
        copy.push_back({to + text.substr(from.size()), 0});
    return copy;
  }

  Statements object(const ObjectKind& kind, const std::string& base, const Seen& seen,
                    const std::string& name, int number) {
    Statements copy = copy_of(kind, base, name);
    const bool fresh = copy.empty();
    const Seen object_seen{[&] {
                             Json context = seen.context();
                             context["name"] = name;
                             context["base"] = base;
                             context["number"] = number;
                             context["fresh"] = fresh;
                             return context;
                           },
                           fmt::format("{}\n{}\n{} {}\n{}", name, base, number, fresh, seen.text)};
    Statements before = made(kind.name + " first", object_seen);
    check_copied(kind, base, name, copy);
    if (!kind.idle_note.empty()) note_idle(kind, base);
    for (const Requirement& one : kind.requirements)
      require(one, kind, base, name, copy, before);
    Statements ours = made(kind.name, object_seen);
    const Statements& first = kind.ours_first ? ours : copy;
    const Statements& second = kind.ours_first ? copy : ours;
    before.insert(before.end(), first.begin(), first.end());
    before.insert(before.end(), second.begin(), second.end());
    return before;
  }

  // A statement without its object's root and the separator.
  static std::string_view inside(const std::string& statement, const std::string& root) {
    std::string_view rest = std::string_view(statement).substr(root.size());
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '>'))
      rest.remove_prefix(1);
    return rest;
  }

  void require(const Requirement& one, const ObjectKind& kind, const std::string& base,
               const std::string& name, const Statements& copy, Statements& before) {
    const auto root = kind.root.filled({{"name", name}});
    const auto named_base = [&base](const std::string& text) {
      return Pattern(text).filled({{"name", base}});
    };
    for (const Statement& statement : copy)
      for (const Pattern& pattern : one.patterns) {
        const auto said = inside(statement.text, root);
        if (!pattern.match(said)) continue;
        if (said != one.text)
          refuse_(named_base(one.why), std::string(said), one.text, named_base(one.hint));
        return;
      }
    if (before.empty()) before.push_back({root, 0});
    before.push_back({root + " > " + one.text, 0});
    if (!base.empty()) wanted_.notes.insert(named_base(one.note));
  }

  // Notes the site's settings of unused queues, which are not in the copy.
  void note_idle(const ObjectKind& kind, const std::string& base) {
    const auto from = kind.root.filled({{"name", base}});
    std::set<int> idle;
    for (const Statement& statement : document_.statements)
      for (const Pattern& pattern : kind.left_out) {
        std::size_t taken = 0;
        if (base.empty() || !is_under(statement.text, from)) continue;
        const auto held = pattern.begins(inside(statement.text, from), taken);
        const auto queue = held ? number_of(tree::held(*held, "queue")) : std::nullopt;
        if (queue && used_.count(*queue) == 0) idle.insert(*queue);
      }
    if (idle.empty()) return;
    const auto queues = fmt::format("{}", fmt::join(idle, ", "));
    wanted_.notes.insert(with_holes_filled(kind.idle_note, {{"queues", queues}, {"name", base}}));
  }

  void check_copied(const ObjectKind& kind, const std::string& base, const std::string& name,
                    const Statements& copy) {
    const auto root = kind.root.filled({{"name", name}});
    for (const Statement& statement : copy)
      for (const Refusal& one : kind.refused)
        if (one.pattern.match(inside(statement.text, root)))
          refuse_(base + " " + one.why, std::string(inside(statement.text, root)),
                  "an object without it", one.hint);
  }

  std::string name_of(const ObjectKind& kind, const std::string& base, const std::string& tag,
                      int number) const {
    if (target_.short_names)
      return fmt::format("DLCP{}{}-{}", tag, number == 1 ? "" : std::to_string(number), base);
    return fmt::format("DLCP-{}{}-{}", kind.tag, number, base.empty() ? "none" : base);
  }

  // Name of DLCP's object for this base and input; equal ones share it. Empty: no object.
  std::string named(const ObjectKind& kind, const std::string& base, const Seen& seen,
                    const std::string& tag) {
    const auto sort = kind.name + "\n" + base + "\n" + tag;
    const auto [at, is_new] = names_.try_emplace(sort + "\n" + seen.text);
    if (!is_new) return at->second;
    int number = counts_[sort] + 1;
    if (target_.short_names) {  // objects with other numbers may be equal
      std::string content;
      for (const Statement& one : object(kind, base, seen, "{name}", 0))
        content += one.text + "\n";
      if (content.empty()) return {};
      number = contents_.try_emplace(sort + "\n" + content, number).first->second;
    }
    at->second = name_of(kind, base, tag, number);
    if (number <= counts_[sort]) return at->second;  // stated already
    counts_[sort] = number;
    for (auto& statement : object(kind, base, seen, at->second, number))
      if (known_.insert(statement.text).second) definitions().push_back(std::move(statement));
    return at->second;
  }

  std::string site_object(const std::string& kind, const std::string& port) const {
    const auto ports = document_.bound.find(kind);
    if (ports != document_.bound.end()) {
      const auto own = ports->second.find(port);
      if (own != ports->second.end()) return own->second;
    }
    if (const auto all = document_.shared.find(kind); all != document_.shared.end())
      return all->second;
    for (const ObjectKind& one : target_.objects)
      if (one.name == kind) return one.usual;
    return "";
  }

  // By kind; empty: the port keeps its object.
  std::vector<std::string> names_for(const PortGroupPlan& group,
                                     const std::vector<std::string>& bases, const Seen& queues,
                                     const Seen& both) {
    const bool trusted = group.group.trust == Trust::kTrusted;
    const ClassedDscps map = classed_dscps(target_, plan_, document_, group.group);
    const Seen dscps{[&map] { return context_of(map); }, text_of(map)};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < bases.size(); ++i) {
      const ObjectKind& kind = target_.objects[i];
      const bool classifier = kind.name == "classifier";
      const Seen& of_kind = classifier ? dscps : kind.classifies ? both : queues;
      const bool needed = kind.copied && (!classifier || trusted || document_.by_dscp);
      const bool told = target_.short_names && classifier && !trusted;
      const auto tag = told ? fmt::format("r{}", group.group.remark_dscp) : std::string();
      names.push_back(needed ? named(kind, bases[i], of_kind, tag) : "");
    }
    return names;
  }

  // Ports with the same site objects get the same statements, each with its own name.
  void put_group(const PortGroupPlan& group) {
    const Json of_queues = queues_context(target_, plan_, document_, group);
    Json of_marks = remark_context(plan_, group.group);
    of_marks["port"] = kPort;
    const Seen queues = as_seen(of_queues), marks = as_seen(of_marks),
               both = as_seen(queues, marks);
    add(definitions(), "group", both);
    add(wanted_.by_hand, "by hand", both);
    std::map<std::vector<std::string>, Statements> made_for;  // by the site's objects
    for (const auto& port : group.group.ports) {
      std::vector<std::string> bases;
      for (const ObjectKind& kind : target_.objects)
        bases.push_back(site_object(kind.name, port));
      if (!check_classifier(port, bases) || !check_port(port)) return;
      auto& statements = made_for[bases];
      if (statements.empty()) {
        const auto names = names_for(group, bases, queues, both);
        Json of_names;
        for (std::size_t i = 0; i < names.size(); ++i)
          of_names[target_.objects[i].name] = names[i].empty() ? Json(false) : Json(names[i]);
        statements = distinct(made("port", as_seen(both, as_seen(of_names))));
      }
      for (const Statement& statement : statements)
        wanted_.parts.back().statements.push_back({for_port(statement.text, port), 0});
    }
  }

  static Statements distinct(Statements statements) {
    std::unordered_set<std::string> seen;
    std::erase_if(statements,
                  [&seen](const Statement& one) { return !seen.insert(one.text).second; });
    return statements;
  }

  static std::string for_port(const std::string& text, const std::string& port) {
    std::string result;
    result.reserve(text.size() + 2 * port.size());
    std::size_t from = 0;
    for (auto at = text.find(kPort); at != std::string::npos; at = text.find(kPort, from)) {
      result.append(text, from, at - from).append(port);
      from = at + kPort.size();
    }
    return result.append(text, from);
  }

  bool check_classifier(const std::string& port, const std::vector<std::string>& bases) {
    for (std::size_t i = 0; i < bases.size(); ++i) {
      const ObjectKind& kind = target_.objects[i];
      if (kind.name != "classifier" || bases[i] == document_.classifier || is_declared()) continue;
      refuse_(
          "port " + port + " has a different " + kind.title + " than most ports",
          bases[i].empty() ? "none" : bases[i],
          document_.classifier.empty() ? "none" : document_.classifier,
          "leave the port out of the intent, or give it the " + kind.title + " of the other ports");
      return false;
    }
    return true;
  }

  bool is_declared() const {
    const auto& all = document_.statements;
    return std::all_of(all.begin(), all.end(), [](const Statement& one) { return one.implied; });
  }

  // The sums are usually percentages.
  void check_sums() {
    std::map<std::pair<const Sum*, std::string>, std::uint64_t> sums;  // by the other holes
    for (const Sum& sum : target_.sums)
      for (const Statement& statement : definitions()) {
        const auto held = sum.pattern.match(statement.text);
        const auto value = held ? number_of(held->find("value")->second) : std::nullopt;
        if (!value) continue;
        const auto of = held->find("name");
        auto& total = sums[{&sum, of == held->end() ? "" : of->second}];
        total += static_cast<std::uint64_t>(*value);
      }
    std::set<const Sum*> said;
    for (const auto& [key, total] : sums)
      if (total > key.first->max && said.insert(key.first).second)
        refuse_(key.first->why, std::to_string(total), "at most " + std::to_string(key.first->max),
                key.first->hint);
  }

  bool check_port(const std::string& port) {
    const auto& ports = plan_.site->ports;
    if (target_.ports_are_listed && !ports.empty() &&
        std::find(ports.begin(), ports.end(), port) == ports.end()) {
      refuse_("port " + port + " is not in the imported configuration", port, "a port of it",
              "use the switch's names of ports: " + ports.front());
      return false;
    }
    const auto fault = port_faults_.find(port);
    if (fault == port_faults_.end()) return true;
    const auto& [rank, refusal, statement] = fault->second;
    refuse_("port " + port + " " + refusal->why, statement->text, "none of it", refusal->hint);
    return false;
  }

  const Target& target_;
  const SwitchPlan& plan_;
  const Document& document_;
  std::vector<bool> ours_;  // by DSCP
  std::set<int> queues_;    // DLCP's
  std::unordered_set<std::string> known_;
  std::set<int> used_;                            // queues that something leads to
  std::map<std::string, std::string> names_;      // by kind, base and context
  std::map<std::string, int> counts_, contents_;  // by kind and base; by contents
  std::map<std::string, PortFault> port_faults_;  // by port
  Wanted wanted_;
  const Refuser refuse_{plan_, wanted_.problems};
};

}  // namespace

Wanted wanted_statements(const Target& target, const SwitchPlan& plan, const Document& document) {
  return StatementMaker(target, plan, document).run();
}

}  // namespace dlcp::fabric::tree
