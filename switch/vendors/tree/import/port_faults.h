// Settings of single ports that the copies of their objects would lack.
#pragma once

#include <map>
#include <string>

#include "switch/vendors/tree/target/target.h"

namespace dlcp::fabric::tree {

struct PortFault {
  std::size_t rank;  // among the target's refusals
  const Refusal* refusal;
  const Statement* statement;
};

// By port; for each port the fault that the target lists first.
std::map<std::string, PortFault> port_faults(const Target& target, const Document& document);

}  // namespace dlcp::fabric::tree
