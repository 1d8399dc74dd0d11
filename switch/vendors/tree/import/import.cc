// Converts a running configuration's statements to a SiteConfig, using the target's facts.
//
// Classifiers:
//
//   - dscp {policy} {dscp*} {class}: a classifier's row
//   - class_map, policy_class: the same in two steps, {map} {dscp*}, and {policy} {map} {class}
//   - other_match {map}: it has a match, unless no_match is of the same statement; a map without a
//       match stands for all remaining packets
//   - class_defined {map}, if every map but the default one is in the configuration
//   - trust {policy} {trust}: whether a classifier uses DSCPs; port_class {policy} {class}
//
// Queues:
//
//   - class_queue {class} {queue}; without it a class leads to the queue of its number
//   - class_to_queue {class} {queue}: if classes have numbers other than those of queues
//   - queue_index {queue} {index}: the number of a named queue
//   - own_queue {name} {queue}: an object of DLCP marks a queue as DLCP's
//   - configured {policy} {queue}: the site configures it; weight, strict {policy} {queue}
//   [{weight}]
//   - queue_scheduler, scheduler_weight, scheduler_strict: the same in two steps, joined by the
//       names that both facts have: {policy}, {scheduler}, {id}
//   - round_robin {policy} {queue}, if a queue is strict unless one from it upwards is round-robin
//   - shape {policy} {queue} {rate} {unit}; pfc {priority}, or {class}, or {queue}
//   - pfc_profile {profile}: enables PFC; watchdog {profile}: also stops pause storms
//
// Ports:
//
//   - port {port}; speed {port} {speed}; lag {port} {lag}
//   - slot_speed {slot1}, {slot2}...: the numbers in names of ports, the last of them a list;
//       {speed}: of these ports, and of the ports that they are split into
//   - rewrite {port}, or {profile}; rewrite_dscp [{profile}] {class} {dscp}; rewriter {port}
//   {profile}
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "switch/vendors/text/numbers.h"
#include "switch/vendors/text/words.h"
#include "switch/vendors/tree/import/facts.h"

namespace dlcp::fabric::tree {
namespace {

class Importer {
 public:
  Importer(const Target& target, const NamedText& running) : target_(target), running_(running) {}

  Checked<SiteConfig> run() {
    auto read = read_statements(target_.reader, running_.file, running_.text);
    problems_ = std::move(read.problems);
    for (Problem& problem : problems_)
      if (problem.hint.empty()) problem.hint = export_hint(target_);
    Checked<SiteConfig> result;
    if (read.value) {
      document_->statements = std::move(*read.value);
      for (Statement& implied : implied_statements(target_, document_->statements))
        document_->statements.push_back(std::move(implied));
      collect();
      auto faults = import_faults(target_, *document_, running_);
      std::move(faults.begin(), faults.end(), std::back_inserter(problems_));
      read_ports(target_, facts_, *document_, site_);
      if (site_.ports.empty()) check_bindings();
      read_names();
      read_map();
      read_scheduling(target_, facts_, most_used("scheduler"), *document_, site_);
      read_pfc();
      read_buffers(target_, facts_, *document_, site_,
                   [this](const Statement& at, std::string what, std::string expected) {
                     fault(at, std::move(what), std::move(expected));
                   });
      read_rewriting(target_, facts_, *document_, site_);
    }
    if (read.value && !has_errors(problems_)) {
      site_.source = running_.file;
      site_.imported = true;
      site_.document = document_;
      result.value = std::move(site_);
    }
    std::stable_partition(problems_.begin(), problems_.end(),
                          [](const Problem& one) { return one.severity == Severity::kError; });
    result.problems = std::move(problems_);
    return result;
  }

 private:
  void fault(const Statement& at, std::string what, std::string expected, std::string hint = {}) {
    if (problems_.size() > 20) return;
    problems_.push_back({Severity::kError, running_.file, at.line, std::move(what), at.text,
                         std::move(expected), std::move(hint)});
  }

  void collect() {
    for (const Statement& statement : document_->statements) {
      for (const std::size_t id : target_.meaning_index.may_match(statement.text)) {
        const Meaning& meaning = target_.meanings[id];
        if (auto captures = meaning.pattern->match(statement.text))
          note(meaning, statement, std::move(*captures));
      }
    }
    for (const ObjectKind& kind : target_.objects)
      if (!kind.usual.empty()) document_->shared.emplace(kind.name, kind.usual);
    for (const auto& [name, list] : facts_)
      document_->facts.insert(name);
  }

  void note(const Meaning& meaning, const Statement& statement, Captures captures) {
    const std::string& name = *meaning.name;
    switch (meaning.kind) {
      case Meaning::Kind::kFact:
        facts_[name].push_back({std::move(captures), &statement});
        break;
      case Meaning::Kind::kBinding:
        document_->bound[name][held(captures, "port")] = site_name(target_, held(captures, "name"));
        break;
      case Meaning::Kind::kShared:
        document_->shared[name] = held(captures, "name");
        break;
      case Meaning::Kind::kWord:
        document_->words.emplace(name, with_holes_filled(*meaning.value, captures));
        break;
    }
  }

  const std::vector<Fact>& facts(std::string_view name) const { return of(facts_, name); }

  // Classifiers that no port uses, and no ports at all: the ports are in another part of the
  // configuration.
  void check_bindings() {
    if (target_.facts.count("port") == 0) return;
    if (target_.ports_are_listed && !document_->statements.empty())
      return fault(document_->statements.front(),
                   "there is no port in this file, although the switch prints all ports",
                   "a file that also has ports", export_hint(target_));
    for (const ObjectKind& kind : target_.objects)
      for (const Statement& statement : document_->statements) {
        std::size_t taken = 0;
        const auto object = kind.root.begins(statement.text, taken);
        if (!object || kind.bindings.empty()) continue;
        return fault(statement,
                     "there is no port in this file, so the settings of ports are unknown",
                     "a file that also has ports", export_hint(target_));
      }
  }

  // The meaning of names of queues and classes, from the target and from the site.
  void read_names() {
    auto& known = document_->queue_of;
    known.insert(target_.queue_names.begin(), target_.queue_names.end());
    for (const Fact& fact : facts("queue_index")) {
      const auto index = number_of(held(fact.held, "index"));
      if (index && *index < kQueueCount) {
        known[held(fact.held, "queue")] = *index;
        if (!is_own(held(fact.held, "queue")))
          document_->queue_name.emplace(*index, held(fact.held, "queue"));
      } else
        fault(*fact.from, "this is not a unicast queue", "0..7");
    }
    known.insert(target_.class_names.begin(), target_.class_names.end());
    for (const Fact& fact : facts("class_queue"))
      if (const auto queue = queue_named(held(fact.held, "queue"))) {
        const auto name = held(fact.held, "class");
        known[name] = *queue;
        if (!is_own(name) && document_->classes.insert(*queue).second)
          document_->class_name.emplace(*queue, name);
      }
  }

  std::optional<int> queue_named(const std::string& name) const {
    return tree::queue_named(*document_, name);
  }

  // The object that most ports use, by the site's name if it is a copy of DLCP's.
  std::string most_used(const std::string& kind) const {
    std::map<std::string, int> uses;
    const auto ports = document_->bound.find(kind);
    if (ports != document_->bound.end())
      for (const auto& [port, name] : ports->second)
        ++uses[name];
    const auto shared = document_->shared.find(kind);
    std::string most = shared == document_->shared.end() ? "" : shared->second;
    for (const ObjectKind& one : target_.objects) {
      if (one.name != kind || one.usual.empty()) continue;
      for (const auto& port : site_.ports)
        if (ports == document_->bound.end() || ports->second.count(port) == 0) ++uses[one.usual];
    }
    const auto usual = uses.find(most);
    int count = usual == uses.end() ? 0 : usual->second;
    for (const auto& [name, used] : uses)
      if (used > count) {
        most = name;
        count = used;
      }
    return most;
  }

  // "10", "8,10-12", "af11 cs1": all DSCPs of the text.
  std::vector<int> dscps_in(const Fact& fact) {
    std::string text = held(fact.held, "dscp");
    std::replace(text.begin(), text.end(), ',', ' ');
    std::vector<int> list;
    for (const auto& word : words_of(text)) {
      const auto dash = word.find('-');
      const auto first = dscp_of(std::string_view(word).substr(0, dash));
      const auto last =
          dash == std::string::npos ? first : dscp_of(std::string_view(word).substr(dash + 1));
      if (!first || !last || *last < *first) {
        fault(*fact.from, "not a list of DSCPs", "0..63, or names such as af21",
              "replace names that the site has defined by numbers");
        return list;
      }
      for (int dscp = *first; dscp <= *last; ++dscp)
        list.push_back(dscp);
    }
    return list;
  }

  void map_dscps(const Fact& fact, const std::string& name, bool overwrites) {
    const auto queue = queue_named(name);
    if (!queue)
      return fault(*fact.from, "unknown forwarding class: " + name,
                   target_.class_names.empty() ? "0..7" : "a class with a queue",
                   "define it, or remove the statement");
    for (const int dscp : dscps_in(fact)) {
      auto& row = site_.dscp_to_class[static_cast<std::size_t>(dscp)];
      if (overwrites && target_.reader.syntax == Syntax::kFlat && row && *row != *queue)
        return fault(*fact.from, fmt::format("DSCP {} leads to two classes", dscp),
                     "one class for each DSCP",
                     "check whether the file has the configurations of two switches");
      if (!row || overwrites) row = static_cast<std::uint8_t>(*queue);
      said_.insert(dscp);
    }
  }

  // Statements that match DSCPs, or that do not restrict the match.
  bool is_dscp_match(const Fact& match) const {
    for (const char* kind : {"class_map", "no_match"})
      for (const Fact& fact : facts(kind))
        if (fact.from == match.from) return true;
    return false;
  }

  // A class of the classifying policy: the DSCPs that it matches, or all remaining ones.
  void map_class(const Fact& step) {
    bool by_dscp = false;
    for (const Fact& fact : facts("class_map")) {
      if (!joins(step.held, fact.held, {"map", "policy"})) continue;
      by_dscp = true;
      map_dscps(fact, held(step.held, "class"), false);  // the first class that matches
    }
    for (const Fact& fact : facts("other_match"))
      if (joins(step.held, fact.held, {"map", "policy"}) && !is_dscp_match(fact))
        return fault(*fact.from, "a class of the classifier matches something other than DSCPs",
                     "classes that match only DSCPs",
                     "classify by DSCP, or declare the site (site.dscp_map)");
    if (by_dscp) return;
    const auto map = held(step.held, "map");
    const auto is_it = [&map](const Fact& fact) { return held(fact.held, "map") == map; };
    if (target_.facts.count("class_defined") != 0 && map.find("default") == std::string::npos &&
        std::ranges::none_of(facts("class_defined"), is_it))
      return fault(*step.from, "class " + map + " is not in this file",
                   "the whole running configuration", export_hint(target_));
    const auto queue = queue_named(held(step.held, "class"));
    for (auto& row : site_.dscp_to_class)
      if (queue && !row) row = static_cast<std::uint8_t>(*queue);
  }

  void read_map() {
    document_->classifier = most_used("classifier");
    const bool bound = !document_->classifier.empty();
    read_trust();
    for (const Fact& fact : facts("dscp"))
      if (held(fact.held, "policy") == document_->classifier)
        map_dscps(fact, held(fact.held, "class"), true);
    for (const Fact& step : facts("policy_class"))
      if (held(step.held, "policy") == document_->classifier) map_class(step);
    std::array<int, kQueueCount> uses{};
    for (std::size_t dscp = 0; dscp < kDscpCount; ++dscp) {
      auto& row = site_.dscp_to_class[dscp];
      if (!row)
        row = static_cast<std::uint8_t>(bound ? target_.unlisted[dscp] : target_.unbound[dscp]);
      if (!document_->by_dscp) row = port_class_;
      ++uses[*row];
    }
    site_.default_class =
        static_cast<std::uint8_t>(std::max_element(uses.begin(), uses.end()) - uses.begin());
    read_class_queues();
    read_owned();
    for (std::size_t dscp = 0; dscp < kDscpCount; ++dscp)
      if ((site_.dlcp_dscps >> dscp & 1) == 0)
        queue_of_class(*site_.dscp_to_class[dscp]).in_use = true;
    auto kept = target_.doubtful_classes;
    // The system's own lossless classes, if the site has no classes or uses PFC.
    if (document_->classes.empty() || !facts("pfc_profile").empty())
      kept.insert(kept.end(), target_.lossless_classes.begin(), target_.lossless_classes.end());
    for (const int own : kept)
      if (document_->classes.count(own) == 0)
        site_.queues[static_cast<std::size_t>(own)].in_use = true;
  }

  // Classifiers that do not use DSCPs: all packets then have one class.
  void read_trust() {
    for (const Fact& fact : facts("port_class"))
      if (held(fact.held, "policy") == document_->classifier)
        port_class_ = static_cast<std::uint8_t>(queue_named(held(fact.held, "class")).value_or(0));
    for (const Fact& fact : facts("trust")) {
      if (held(fact.held, "policy") != document_->classifier) continue;
      const auto trust = held(fact.held, "trust");
      const auto is_of = [&trust](const std::vector<std::string>& list) {
        return std::find(list.begin(), list.end(), trust) != list.end();
      };
      document_->by_dscp = is_of(target_.dscp_trusts);
      document_->by_tag = is_of(target_.tag_trusts);
      // After an error the classifier may be the rejected statement.
      if (document_->by_dscp || has_errors(problems_)) continue;
      problems_.push_back(
          {Severity::kWarning, running_.file, fact.from->line,
           fmt::format("ports trust {}, not DSCPs", trust), "", "",
           "DLCP's ports will trust DSCPs. All DSCPs of the site lead to the same classes as now; "
           "VLAN-tagged IP packets are then also classified by DSCP"});
    }
  }

  SiteQueue& queue_of_class(std::size_t traffic_class) {
    return site_.queues[*site_.class_to_queue[traffic_class]];
  }

  void read_class_queues() {
    for (std::uint8_t queue = 0; queue < kQueueCount; ++queue)
      site_.class_to_queue[queue] = queue;
    for (const Fact& fact : facts("class_to_queue")) {
      const auto number = number_of(held(fact.held, "class"));
      const auto queue = queue_named(held(fact.held, "queue"));
      if (!number || *number >= kQueueCount || !queue) {
        fault(*fact.from, "a class or queue out of range", "0..7");
        continue;
      }
      site_.class_to_queue[static_cast<std::size_t>(*number)] = static_cast<std::uint8_t>(*queue);
      document_->classes.insert(*number);
    }
  }

  // If one DSCP map applies to the whole switch, the DSCPs of an earlier change are found by their
  // queues.
  void read_owned() {
    for (const Fact& fact : facts("own_queue"))
      if (const auto queue = queue_named(held(fact.held, "queue"));
          queue && is_own(held(fact.held, "name")))
        site_.dlcp_queues |= static_cast<std::uint8_t>(1U << *queue);
    for (const int dscp : said_) {
      const auto traffic_class = *site_.dscp_to_class[static_cast<std::size_t>(dscp)];
      if ((site_.dlcp_queues >> *site_.class_to_queue[traffic_class] & 1) != 0)
        site_.dlcp_dscps |= std::uint64_t{1} << dscp;
    }
  }

  void read_pfc() {
    for (const Fact& fact : facts("pfc_dscp"))
      for (const int dscp : dscps_in(fact)) {
        auto& row = queue_of_class(*site_.dscp_to_class[static_cast<std::size_t>(dscp)]);
        row.lossless = row.in_use = true;
      }
    for (const Fact& fact : facts("pfc")) {
      std::string name = held(fact.held, "priority");
      for (const char* other : {"class", "queue"})
        if (name.empty()) name = held(fact.held, other);
      std::replace(name.begin(), name.end(), ',', ' ');
      for (const auto& word : words_of(name)) {
        const auto queue = queue_named(word);
        if (!queue) {
          fault(*fact.from, "unknown lossless class: " + word, "a class with a queue");
          continue;
        }
        site_.pfc_priorities |= static_cast<std::uint8_t>(1U << *queue);
        auto& row = queue_of_class(static_cast<std::size_t>(*queue));
        row.lossless = row.in_use = true;
      }
    }
    for (const Fact& fact : facts("pfc_profile"))
      document_->pfc_profiles.insert(held(fact.held, "profile"));
    if (target_.facts.count("watchdog") != 0) site_.pfc_watchdog = !facts("watchdog").empty();
  }

  const Target& target_;
  const NamedText& running_;
  std::shared_ptr<Document> document_ = std::make_shared<Document>();
  std::uint8_t port_class_ = 0;  // of all packets, on ports that do not use DSCPs
  Facts facts_;
  std::set<int> said_;  // DSCPs with a row in the classifier
  SiteConfig site_;
  std::vector<Problem> problems_;
};

}  // namespace

Checked<SiteConfig> import_config(const Target& target, const NamedText& running) {
  return Importer(target, running).run();
}

}  // namespace dlcp::fabric::tree
