// Turns a running configuration's statements into what the site does, by the target's facts.
//
//   dscp          {policy} {dscp*} {class}: a classifier's row
//   class_map, policy_class    the same in two steps: {map} {dscp*}, and {policy} {map} {class}
//   other_match   {map}: it matches something; a map that matches nothing stands for all the rest
//   class_queue   {class} {queue}; without it a class leads to the queue of its number
//   queue_index   {queue} {index}: what a queue's name means
//   weight, strict             {policy} {queue} [{weight}]
//   queue_scheduler, scheduler_weight, scheduler_strict    the same in two steps, joined by what
//   the
//                              two facts both have: {policy}, {scheduler}, {id}
//   pfc           {priority}, or {class}, or {queue}
//   pfc_profile   {profile}: what turns PFC on; watchdog {profile}: and ends
//   pause storms port          {port}; speed {port} {speed}; lag {port} {lag}
//   rewrite       {port}; rewrite_dscp {class} {dscp}
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "switch/vendors/numbers.h"
#include "switch/vendors/tree/target.h"
#include "switch/vendors/words.h"

namespace dlcp::fabric::tree {
namespace {

std::string held(const Captures& captures, std::string_view name) {
  const auto found = captures.find(name);
  return found == captures.end() ? std::string() : found->second;
}

class Importer {
 public:
  Importer(const Target& target, const NamedText& running) : target_(target), running_(running) {}

  Checked<SiteConfig> run() {
    auto read = read_statements(target_.reader, running_.file, running_.text);
    problems_ = std::move(read.problems);
    for (Problem& problem : problems_)
      if (problem.hint.empty()) problem.hint = take_with(target_);
    Checked<SiteConfig> result;
    if (read.value) {
      document_->statements = std::move(*read.value);
      collect();
      auto doubts = doubts_of(target_, *document_, running_);
      std::move(doubts.begin(), doubts.end(), std::back_inserter(problems_));
      read_ports();
      read_names();
      read_map();
      read_queues();
      read_pfc();
      read_rewriting();
    }
    if (read.value && !has_errors(problems_)) {
      site_.source = running_.file;
      site_.imported = true;
      site_.document = document_;
      result.value = std::move(site_);
    }
    result.problems = std::move(problems_);
    return result;
  }

 private:
  struct Fact {
    Captures held;
    const Statement* from;
  };

  void fault(const Statement& at, std::string what, std::string expected, std::string hint = {}) {
    if (problems_.size() > 20) return;
    problems_.push_back({Severity::kError, running_.file, at.line, std::move(what), at.text,
                         std::move(expected), std::move(hint)});
  }

  void collect() {
    for (const Statement& statement : document_->statements) {
      for (const auto& [name, patterns] : target_.facts)
        for (const Pattern& pattern : patterns)
          if (auto captures = pattern.match(statement.text))
            facts_[name].push_back({std::move(*captures), &statement});
      for (const ObjectKind& kind : target_.objects)
        for (const Pattern& pattern : kind.bindings)
          if (auto captures = pattern.match(statement.text))
            document_->bound[kind.name][held(*captures, "port")] =
                site_name(held(*captures, "name"));
      for (const ObjectKind& kind : target_.objects)
        for (const Pattern& pattern : kind.shared)
          if (auto captures = pattern.match(statement.text))
            document_->shared[kind.name] = held(*captures, "name");
    }
  }

  const std::vector<Fact>& facts(const std::string& name) { return facts_[name]; }

  void read_ports() {
    std::map<std::string, SitePort> ports;
    const auto port = [&ports](const std::string& name) -> SitePort& {
      auto& row = ports[name];
      row.name = name;
      return row;
    };
    for (const Fact& fact : facts("port"))
      port(held(fact.held, "port"));
    for (const auto& [kind, names] : document_->bound)
      for (const auto& [name, object] : names)
        port(name);
    for (const Fact& fact : facts("speed"))
      port(held(fact.held, "port")).bits_per_second = speed_of(held(fact.held, "speed"));
    for (const Fact& fact : facts("lag"))
      port(held(fact.held, "port")).lag = held(fact.held, "lag");
    for (auto& [name, row] : ports) {
      site_.ports.push_back(name);
      site_.port_facts.push_back(std::move(row));
    }
  }

  // "100G", "100g", "100gbps", "openconfig-if-ethernet:SPEED_100GB", "100000" (in Mb/s); 0: none.
  static std::uint64_t speed_of(std::string text) {
    if (const auto at = text.find("SPEED_"); at != std::string::npos) text.erase(0, at + 6);
    const auto digits = text.find_first_not_of("0123456789");
    const auto number = number_of(std::string_view(text).substr(0, digits));
    if (!number) return 0;
    if (digits == std::string::npos) return static_cast<std::uint64_t>(*number) * 1'000'000;
    const bool giga = text[digits] == 'g' || text[digits] == 'G';
    return giga ? static_cast<std::uint64_t>(*number) * 1'000'000'000 : 0;
  }

  // What names of queues and classes mean: as the target has it, and as the site says.
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
        fault(*fact.from, "a queue that is not one of the unicast queues", "0..7");
    }
    known.insert(target_.class_names.begin(), target_.class_names.end());
    for (const Fact& fact : facts("class_queue"))
      if (const auto queue = queue_named(held(fact.held, "queue"))) {
        const auto name = held(fact.held, "class");
        known[name] = *queue;
        if (!is_own(name)) document_->class_name.emplace(*queue, name);
      }
  }

  std::optional<int> queue_named(const std::string& name) const {
    const auto known = document_->queue_of.find(name);
    if (known != document_->queue_of.end()) return known->second;
    const auto number = number_of(name);
    return number && *number < kQueueCount ? number : std::nullopt;
  }

  // What most ports have, by the name of the site's that DLCP's may be a copy of.
  std::string most_used(const std::string& kind) const {
    std::map<std::string, int> uses;
    const auto ports = document_->bound.find(kind);
    if (ports != document_->bound.end())
      for (const auto& [port, name] : ports->second)
        ++uses[name];
    const auto shared = document_->shared.find(kind);
    std::string most = shared == document_->shared.end() ? "" : shared->second;
    int count = 0;
    for (const auto& [name, used] : uses)
      if (used > count) {
        most = name;
        count = used;
      }
    return most;
  }

  // "10", "8,10-12", "af11 cs1": all of them.
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
        fault(*fact.from, "not a list of DSCPs", "0..63, or names such as af21");
        return list;
      }
      for (int dscp = *first; dscp <= *last; ++dscp)
        list.push_back(dscp);
    }
    return list;
  }

  // What both have of these, they have alike.
  static bool joins(const Captures& a, const Captures& b,
                    std::initializer_list<std::string_view> names) {
    return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
      return held(a, name).empty() || held(b, name).empty() || held(a, name) == held(b, name);
    });
  }

  void map_dscps(const Fact& fact, const std::string& name, bool overwrites) {
    const auto queue = queue_named(name);
    if (!queue)
      return fault(*fact.from, "a forwarding class that is not known: " + name,
                   "a class with a queue", "define it, or take the statement out");
    for (const int dscp : dscps_in(fact)) {
      auto& row = site_.dscp_to_class[static_cast<std::size_t>(dscp)];
      if (!row || overwrites) row = static_cast<std::uint8_t>(*queue);
    }
  }

  // A class of the classifying policy: the DSCPs it matches, or all that are left.
  void map_class(const Fact& step) {
    bool by_dscp = false;
    for (const Fact& fact : facts("class_map")) {
      if (!joins(step.held, fact.held, {"map", "policy"})) continue;
      by_dscp = true;
      map_dscps(fact, held(step.held, "class"), false);  // the first class that matches
    }
    if (by_dscp) return;
    for (const Fact& fact : facts("other_match"))
      if (joins(step.held, fact.held, {"map", "policy"}))
        return fault(*fact.from, "a class that matches something else than DSCPs classifies ports",
                     "DSCPs alone", "classify by DSCP, or declare the site (site.dscp_map)");
    const auto queue = queue_named(held(step.held, "class"));
    for (auto& row : site_.dscp_to_class)
      if (queue && !row) row = static_cast<std::uint8_t>(*queue);
  }

  void read_map() {
    document_->classifier = most_used("classifier");
    const bool bound = !document_->classifier.empty();
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
      ++uses[*row];
    }
    site_.default_class =
        static_cast<std::uint8_t>(std::max_element(uses.begin(), uses.end()) - uses.begin());
    for (std::uint8_t queue = 0; queue < kQueueCount; ++queue)
      site_.class_to_queue[queue] = queue;
    for (const auto& row : site_.dscp_to_class)
      site_.queues[*row].in_use = true;
  }

  // The queue that a fact is about, in the scheduler policy that most ports have.
  SiteQueue* queue_of(const Fact& fact) {
    const auto policy = fact.held.find("policy");
    if (policy != fact.held.end() && policy->second != scheduler_) return nullptr;
    const auto queue = queue_named(held(fact.held, "queue"));
    return queue ? &site_.queues[static_cast<std::size_t>(*queue)] : nullptr;
  }

  void read_queues() {
    scheduler_ = most_used("scheduler");
    for (std::uint8_t q = 0; q < kQueueCount; ++q) {
      site_.queues[q].queue = q;
      site_.queues[q].name = scheduler_;
    }
    for (const Fact& fact : facts("weight"))
      put_weight(queue_of(fact), held(fact.held, "weight"));
    for (const Fact& fact : facts("strict"))
      put_strict(queue_of(fact));
    for (const Fact& step : facts("queue_scheduler")) {
      SiteQueue* const queue = queue_of(step);
      if (queue == nullptr) continue;
      const auto number = number_of(held(step.held, "scheduler"));
      for (const Fact& fact : facts("scheduler_weight"))
        if (joins(step.held, fact.held, {"policy", "scheduler", "id"})) {
          put_weight(queue, held(fact.held, "weight"));
          document_->weighted_sequence = number.value_or(1);
        }
      for (const Fact& fact : facts("scheduler_strict"))
        if (joins(step.held, fact.held, {"policy", "scheduler", "id"})) {
          put_strict(queue);
          document_->strict_sequences.insert(number.value_or(0));
        }
    }
  }

  void put_weight(SiteQueue* queue, const std::string& text) {
    const auto weight = number_of(text);
    if (queue == nullptr || !weight) return;
    queue->configured = queue->configured || target_.configured_is_used;
    queue->weight = static_cast<unsigned>(std::min(*weight, 1'000'000));
  }

  void put_strict(SiteQueue* queue) {
    if (queue == nullptr) return;
    queue->configured = queue->configured || target_.configured_is_used;
    queue->strict = true;
  }

  void read_pfc() {
    for (const Fact& fact : facts("pfc")) {
      std::string name = held(fact.held, "priority");
      for (const char* other : {"class", "queue"})
        if (name.empty()) name = held(fact.held, other);
      std::replace(name.begin(), name.end(), ',', ' ');
      for (const auto& word : words_of(name)) {
        const auto queue = queue_named(word);
        if (!queue) {
          fault(*fact.from, "a lossless class that is not known: " + word, "a class with a queue");
          continue;
        }
        site_.pfc_priorities |= static_cast<std::uint8_t>(1U << *queue);
        auto& row = site_.queues[static_cast<std::size_t>(*queue)];
        row.lossless = row.in_use = true;
      }
    }
    for (const Fact& fact : facts("pfc_profile"))
      document_->pfc_profiles.insert(held(fact.held, "profile"));
    if (target_.facts.count("watchdog") != 0) site_.pfc_watchdog = !facts("watchdog").empty();
  }

  void read_rewriting() {
    for (const Fact& fact : facts("rewrite")) {
      const auto name = held(fact.held, "port");
      for (SitePort& port : site_.port_facts)
        if (name.empty() || port.name == name) port.rewrites_dscps = true;
      if (site_.egress_rewrite.empty()) site_.egress_rewrite = fact.from->text;
    }
    for (const Fact& fact : facts("rewrite_dscp")) {
      const auto queue = queue_named(held(fact.held, "class"));
      const auto dscp = dscp_of(held(fact.held, "dscp"));
      if (queue && dscp)
        site_.class_to_dscp[static_cast<std::size_t>(*queue)] = static_cast<std::uint8_t>(*dscp);
    }
  }

  const Target& target_;
  const NamedText& running_;
  std::shared_ptr<Document> document_ = std::make_shared<Document>();
  std::map<std::string, std::vector<Fact>> facts_;
  std::string scheduler_;
  SiteConfig site_;
  std::vector<Problem> problems_;
};

}  // namespace

Checked<SiteConfig> import_config(const Target& target, const NamedText& running) {
  return Importer(target, running).run();
}

}  // namespace dlcp::fabric::tree
