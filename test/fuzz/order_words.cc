// The inputs of `dlcp order` besides its file: messages of leader and agents, meshes, simulations.
// No input crashes it, and accepted values are in range.
#include "cli/order/agent/agent_words.h"
#include "fuzz_input.h"
#include "order/measure/simulated_network.h"
#include "order/solve/patterns.h"

using namespace dlcp;
using dlcp::test::require;

std::vector<std::string> fuzz_seeds() {
  cli::AgentHello hello{"a", "m", {"10.0.0.1"}, {50000, 50001}, 10000};
  cli::PeerList peers{7, 0, {"10.0.0.1", "::1"}, {{50000}, {50001}}};
  cli::AgentJob job{{1, 2}, true, 1, 20, 2.5};
  cli::AgentAnswer answer{{{true, 10.5, 2}, {}}, 1.5, 1e6, 2e6};
  return {cli::encode(hello),  cli::encode(peers), cli::encode(job),
          cli::encode(answer), "pp=4,dp=16:2",     "hosts=16,leaves=4,noise=0.3,seed=7"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto hello = cli::decode_hello(text))
    require(!hello->name.empty() && !hello->ports.empty(), "a hello has a host and its ports");
  if (const auto peers = cli::decode_peers(text)) {
    require(peers->addresses.size() == peers->ports.size(), "every host has ports");
    require(peers->self < static_cast<int>(peers->ports.size()), "the agent is in the list");
  }
  if (const auto job = cli::decode_job(text))
    require(job->to >= -1 && job->ms >= 0 && job->ms <= 10'000, "a job ends");
  if (const auto answer = cli::decode_answer(text))
    for (const order::Measurement& one : answer->measured)
      require(!one.answered || one.round_trip_us >= 0, "a round trip is not negative");
  if (const auto mesh = order::parse_mesh(text, 64)) {
    int nodes = 1;
    for (const order::MeshAxis& axis : mesh.value())
      nodes *= axis.size;
    require(nodes == 64, "a mesh has as many nodes as the fabric");
  }
  if (const auto spec = order::parse_simulation(text))
    require(spec.value().leaves <= spec.value().hosts, "no leaf is empty");
  return 0;
}
