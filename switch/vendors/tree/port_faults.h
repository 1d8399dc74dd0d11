// What ports have of their own that the copies of their objects would not have.
#pragma once

#include <map>
#include <string>

#include "switch/vendors/tree/target.h"

namespace dlcp::fabric::tree {

struct PortFault {
  std::size_t rank;  // among the target's refusals
  const Refusal* refusal;
  const Statement* statement;
};

// By port, of each the one that the target names first.
std::map<std::string, PortFault> port_faults(const Target& target, const Document& document);

}  // namespace dlcp::fabric::tree
