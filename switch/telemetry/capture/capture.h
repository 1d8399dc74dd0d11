// Reads counters from JSON that an operator has saved: the answer of Prometheus' /api/v1/query, or
// the result of a gNMI Get (as gnmic prints it, or the bare tree of RFC 7951). The JSON must name
// the plan's switch, otherwise it is rejected.
#pragma once

#include <functional>
#include <string>

#include "switch/telemetry/names.h"
#include "switch/vendors/counters/counters.h"

namespace dlcp::fabric::telemetry {

// Whether a capture must be read as JSON: it begins with '{' or '['.
bool is_json(const std::string& text);

struct Captured {
  const SwitchPlan& plan;
  const Names& names;
  std::function<std::string(int queue)> queue_label;  // the target's telemetry label for a queue
};

Checked<CounterTable> read_capture(const Captured& from, const NamedText& captured);

}  // namespace dlcp::fabric::telemetry
