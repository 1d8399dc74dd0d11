// Commands that show DLCP at work on this release. Counters are since the last clear, so that is
// the first of them.
#include "switch/vendors/sonic/document.h"
#include "switch/vendors/sonic/release.h"

namespace dlcp::fabric::sonic {
std::vector<VerifyCommand> commands(const SwitchPlan& plan) {
  constexpr std::string_view kPort = "{port}";
  std::vector<VerifyCommand> list;
  for (const auto& command : Release(plan.version).commands(plan.features)) {
    const auto at = command.command.find(kPort);
    if (at == std::string::npos) {
      list.push_back(command);
      continue;
    }
    for (const auto& group : plan.groups) {
      if (group.group.ports.empty()) continue;
      auto of_port = command;
      list.push_back(
          {of_port.command.replace(at, kPort.size(), group.group.ports.front()), command.shows});
    }
  }
  return list;
}

}  // namespace dlcp::fabric::sonic
