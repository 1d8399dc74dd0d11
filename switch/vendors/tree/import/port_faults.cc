#include "switch/vendors/tree/import/port_faults.h"

namespace dlcp::fabric::tree {
namespace {

// {port}, or the port of a {subinterface}; empty if there is none.
std::string port_of(const Captures& said) {
  if (const auto port = said.find("port"); port != said.end()) return port->second;
  const auto& name = said.at("subinterface");
  const auto dot = name.find('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

}  // namespace

std::map<std::string, PortFault> port_faults(const Target& target, const Document& document) {
  std::map<std::string, PortFault> faults;
  for (const Statement& statement : document.statements)
    for (const std::size_t rank : target.port_refusal_index.may_match(statement.text)) {
      const Refusal& refusal = target.port_refusals[rank];
      const auto said = refused_by(refusal, statement, document.statements);
      if (!said) continue;
      const PortFault fault{rank, &refusal, &statement};
      const auto port = port_of(*said);
      if (port.empty()) continue;
      const auto [at, is_new] = faults.emplace(port, fault);
      if (!is_new && rank < at->second.rank) at->second = fault;
    }
  return faults;
}

}  // namespace dlcp::fabric::tree
