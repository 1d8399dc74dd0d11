// What a plan makes of a target's configuration: the statements that DLCP wants there, beside and
// in copies of the site's.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "switch/vendors/tree/target.h"

namespace dlcp::fabric::tree {

struct WantedPart {
  std::string name;  // of the patch: "10-definitions", "20-ports-01-host"
  Statements statements;
};

struct Wanted {
  std::vector<WantedPart> parts;
  std::vector<Problem> problems;
  std::set<std::string> notes;  // of what copies of the site's objects got beside DLCP's queues
  Statements by_hand;           // what is written apart
};

Wanted wanted_statements(const Target& target, const SwitchPlan& plan, const Document& document);

// Queues that DLCP's would turn from strict to round-robin, or the other way round, where a system
// makes every queue below a round-robin one round-robin too.
std::vector<Problem> scheduling_faults(const Target& target, const SwitchPlan& plan);
// What becomes of the default class there, which may be turned; empty: nothing.
std::string default_class_note(const Target& target, const SwitchPlan& plan);

// The queue's name in the configuration: the site's, or the one that DLCP gives it.
std::string queue_name(const Document& document, int queue);

std::string word_used(const Word& word, const std::string& name, const SwitchPlan& plan,
                      const Document& document);
// What templates see where one map is the whole switch's: DLCP's DSCPs, and classes whose queue
// must be said. The plan has a port group.
nlohmann::json map_context(const Target& target, const SwitchPlan& plan, const Document& document);
nlohmann::json remark_context(const SwitchPlan& plan, const PortGroup& group);

// What templates see of a queue: its numbers in every unit.
nlohmann::json queue_row(const SwitchPlan& plan, const PortGroupPlan& group,
                         const QueuePlan& queue);

// What templates see of a port group: its queues with their depths in every unit.
nlohmann::json queues_context(const Target& target, const SwitchPlan& plan,
                              const Document& document, const PortGroupPlan& group);
// Features of the switch as a whole; also what of the site's they go into.
nlohmann::json features_context(const Target& target, const SwitchPlan& plan,
                                const Document& document);
// Where DSCPs of the site's lead, what is lossless, and what DLCP has.
std::set<int> queues_in_use(const SwitchPlan& plan);
struct ClassedDscp {
  int dscp, queue, precedence;
  std::optional<int> traffic_class;
  bool ours;
  std::string class_name;
};
struct ClassedDscps {
  std::vector<ClassedDscp> ours, others;
  bool by_tag, remarked;
};
ClassedDscps classed_dscps(const Target& target, const SwitchPlan& plan, const Document& document,
                           const PortGroup& group);
nlohmann::json context_of(const ClassedDscps& map);
std::string text_of(const ClassedDscps& map);  // all that templates see of it

}  // namespace dlcp::fabric::tree
