// Any topology file is either refused or can be planned for.
#include <string>

#include "fuzz_input.h"
#include "synth/flow/bound.h"
#include "synth/input/fabric_input.h"
#include "synth/input/intent_input.h"
#include "synth/input/links_file.h"
#include "synth/input/taccl_file.h"
#include "synth/routes.h"

using namespace dlcp;
using namespace dlcp::synth;

std::vector<std::string> fuzz_seeds() {
  return {
      "{ranks: 'h[0-3]', switches: [s], links: [{from: 'h[0-3]', to: s, rate: 25G, count: 2, "
      "latency: 2us}]}",
      "{ranks: [a, b], groups: [a, b], links: [{from: a, to: b, rate: 12.5GB/s, one_way: yes}, "
      "{from: b, to: a, rate: 1M}]}",
      R"({"name": "t", "gpus_per_node": 2, "alpha": 1, "betas": [[0, 1], [1, 0]], "remote_beta": 9})",
      R"({"gpus_per_node": 8, "alpha": 0.7, "node_betas_list": [20, 40]})",
      "{fabric: {link_speed: 1G}, switches: [{name: l, role: leaf, ports: [{ports: 'e[0-8:4]', "
      "role: host}]}]}"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const InputFile sketch{R"({"nnodes": 2, "internode_sketch": {"internode_conn": {"1": [0]}}})",
                         "sketch"};
  for (const auto& topology :
       {parse_links(text, "f"), parse_taccl({text, "f"}, std::nullopt),
        parse_taccl({text, "f"}, sketch), parse_intent(text, "f"), parse_order_file(text, "f")}) {
    if (!topology || topology.value().ranks() > 16 || topology.value().nodes.size() > 64) continue;
    const Routes routes(topology.value());
    for (const Collective collective : kCollectives) {
      const Bound bound = bound_of(topology.value(), collective);
      if (!(bound.rate > 0)) __builtin_trap();
    }
  }
  return 0;
}
