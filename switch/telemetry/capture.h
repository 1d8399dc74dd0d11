// Counters out of JSON that an operator has saved: the answer of Prometheus' /api/v1/query, or what
// a gNMI Get gave (as gnmic prints it, or the bare tree of RFC 7951). What is read must be of the
// switch that the plan is of; what does not say so, or is of another one, is refused.
#pragma once

#include <functional>
#include <string>

#include "switch/telemetry/names.h"
#include "switch/vendors/counters.h"

namespace dlcp::fabric::telemetry {

// Whether a capture is to be read as JSON: it begins with '{' or '['.
bool is_json(const std::string& text);

struct Captured {
  const SwitchPlan& plan;
  const Names& names;
  std::function<std::string(int queue)> queue_label;  // what the target's telemetry calls a queue
};

Checked<CounterTable> read_capture(const Captured& from, const NamedText& captured);

}  // namespace dlcp::fabric::telemetry
