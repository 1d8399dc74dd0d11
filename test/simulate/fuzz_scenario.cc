// Any scenario or connection matrix is either refused or can be simulated: all hosts exist, all
// steps can begin, and sizes are within bounds.
#include <string>

#include "cli/simulate/scenario_file.h"
#include "fuzz_input.h"
#include "simulate/load/connection_matrix.h"
#include "simulate/load/workloads.h"

using namespace dlcp;
using namespace dlcp::simulate;

std::vector<std::string> fuzz_seeds() {
  return {
      "{fabric: {shape: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2, rate: 100G}, loss: "
      "1%, "
      "transports: [dlcp, nscc], load: {kind: incast, senders: 3, bytes: 1MB, may_lose: 3%}, "
      "faults: [{link: leaf-up, rate: 0, noticed_after: 1ms}]}",
      "{fabric: {shape: fat-tree, radix: 4, oversubscription: 2}, load: {kind: training, model: "
      "VGG16, algorithm: direct, part: 0.1}}",
      "{fabric: {shape: switch, hosts: 4}, load: {kind: matrix, file: x}}",
      "{fabric: {shape: switch, hosts: 4}, load: {kind: all-to-all, bytes: 4k, lanes: 2}}",
      "Nodes 4\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 9 send_done_trigger 1\n"
      "1->2 id 2 trigger 1 size 7\ntrigger id 1 oneshot\n",
      "Nodes 4\nConnections 1\nTriggers 0\n0->3 start 1.5e6 size 10\n"};
}

namespace {

void check_steps(const Workload& workload, std::size_t hosts) {
  for (const Step& step : workload) {
    const Transfer& one = step.transfer;
    if (one.from >= hosts || one.to >= hosts || one.from == one.to || one.bytes == 0)
      __builtin_trap();
  }
  if (!can_end(workload)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto matrix = parse_connection_matrix(text, "f");
  if (matrix) check_steps(matrix.value().workload, matrix.value().hosts);
  const auto scenario =
      cli::parse_scenario(text, "f", [](const std::string&) -> Result<std::string> {
        return std::string("Nodes 2\nConnections 1\n0->1 start 0 size 5\n");
      });
  if (!scenario || scenario.value().setting.fabric.hosts() > 16) return 0;
  check_steps(scenario.value().workload(1), scenario.value().setting.fabric.hosts());
  return 0;
}
