// Intents for tests, read from text without files or vendors.
#pragma once

#include <string>

#include "catch.h"
#include "switch/model/intent_file/intent_file.h"
#include "switch/plan/plan.h"

namespace dlcp::test {

inline const fabric::Sources& no_sources() {
  static const fabric::Sources kNone{
      [](const std::string& file) {
        fabric::Problem problem;
        problem.what = "no files here";
        problem.seen = file;
        return fabric::Checked<std::string>::failed(problem);
      },
      [](const std::string&, const std::string&, const std::string&) {
        return fabric::Checked<fabric::SiteConfig>::failed({});
      }};
  return kNone;
}

// One leaf with `extra` lines in its entry (each indented by four), on a fabric whose site uses
// queues 0, 3 (lossless), 5 and 6.
inline std::string leaf_intent(const std::string& system = "sonic",
                               const std::string& asic = "tomahawk4",
                               const std::string& version = "202311", const std::string& extra = "",
                               const std::string& dscp_map = "24-31: 3, EF: 5, CS6: 6") {
  return "fabric:\n  name: test\n  base_rtt: 12us\n  link_speed: 400G\n"
         "site:\n  dscp_map: {" +
         dscp_map +
         "}\n  pfc_priorities: [3]\n  may_take_queues: [7]\n  queues:\n"
         "    - {queue: 0, weight: 20}\n    - {queue: 3, weight: 40, lossless: yes}\n"
         "    - {queue: 5, weight: 10}\n    - {queue: 6, strict: yes}\n"
         "switches:\n  - name: leaf1\n    os: " +
         system + "\n    version: \"" + version +
         "\"\n"
         "    asic: " +
         asic + "\n    role: leaf\n" + extra +
         "    ports:\n      - {ports: \"Ethernet[0-3]\", role: host, trust: dscp}\n";
}

// The same for senders that mark three levels of bulk.
inline std::string three_levels(const std::string& intent) {
  return "dlcp:\n  level_shares:\n"
         "    bulk: {droppable: 25%, middle: 25%, protected: 50%}\n" +
         intent;
}

inline fabric::Checked<fabric::Intent> read(const std::string& text) {
  return fabric::read_intent("test.yaml", text, no_sources());
}

inline fabric::Checked<fabric::SwitchPlan> plan(const std::string& text) {
  const auto intent = read(text);
  if (intent.value) return fabric::plan_switch(*intent.value, intent.value->switches.front());
  fabric::Checked<fabric::SwitchPlan> failed;
  failed.problems = intent.problems;
  return failed;
}

inline fabric::SwitchPlan plan_of(const std::string& text) {
  const auto planned = plan(text);
  for (const fabric::Problem& problem : planned.problems)
    UNSCOPED_INFO(fabric::to_text(problem));
  REQUIRE(planned.value.has_value());
  return *planned.value;
}

inline const fabric::QueuePlan* queue_named(const fabric::SwitchPlan& plan,
                                            const std::string& name) {
  for (const auto& queue : plan.groups.front().queues)
    if (queue.name == name) return &queue;
  return nullptr;
}

}  // namespace dlcp::test
