// The statements that a plan needs in a target's configuration, in addition to the site's and in
// copies of the site's objects.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "switch/vendors/tree/target/target.h"

namespace dlcp::fabric::tree {

struct WantedPart {
  std::string name;  // of the patch: "10-definitions", "20-ports-01-host"
  Statements statements;
};

struct Wanted {
  std::vector<WantedPart> parts;
  std::vector<Problem> problems;
  std::set<std::string> notes;  // additions to site copies other than DLCP's queues
  Statements by_hand;           // statements in a separate file
};

Wanted wanted_statements(const Target& target, const SwitchPlan& plan, const Document& document);

// Errors: DLCP's queues would change a queue from strict to round-robin or back, on a system where
// every queue below a round-robin one is round-robin too.
std::vector<Problem> scheduling_faults(const Target& target, const SwitchPlan& plan);
// The change of the default class's scheduling there, which is allowed; empty: none.
std::string default_class_note(const Target& target, const SwitchPlan& plan);

// The queue's name in the configuration: the site's, or DLCP's.
std::string queue_name(const Document& document, int queue);

std::string word_used(const Word& word, const std::string& name, const SwitchPlan& plan,
                      const Document& document);
// Template input for a target whose one map applies to the whole switch: DLCP's DSCPs, and classes
// whose queue must be configured. The plan must have a port group.
nlohmann::json map_context(const Target& target, const SwitchPlan& plan, const Document& document);
nlohmann::json remark_context(const SwitchPlan& plan, const PortGroup& group);

// Template input for a queue: its numbers in every unit.
nlohmann::json queue_row(const SwitchPlan& plan, const PortGroupPlan& group,
                         const QueuePlan& queue);

// Template input for a port group: its queues with their depths in every unit.
nlohmann::json queues_context(const Target& target, const SwitchPlan& plan,
                              const Document& document, const PortGroupPlan& group);
// Features of the whole switch, and the site's objects that they extend.
nlohmann::json features_context(const Target& target, const SwitchPlan& plan,
                                const Document& document);
// Queues that the site's DSCPs lead to, lossless queues, and DLCP's queues.
std::set<int> queues_in_use(const SwitchPlan& plan);
struct ClassedDscp {
  int dscp, queue, precedence, traffic_class;
  bool ours;
  std::string class_name;
  std::string unstated_queue = {};  // of a class that the configuration does not lead to a queue
  bool queue_is_named = false;      // in the configuration
};
struct ClassedDscps {
  std::vector<ClassedDscp> ours, others;
  bool by_tag, remarked;
};
ClassedDscps classed_dscps(const Target& target, const SwitchPlan& plan, const Document& document,
                           const PortGroup& group);
nlohmann::json context_of(const ClassedDscps& map);
std::string text_of(const ClassedDscps& map);  // identifies all that templates read of the map

}  // namespace dlcp::fabric::tree
