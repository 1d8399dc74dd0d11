// The input is the network between two endpoints; see byte_network.h.
#include <exception>

#include "byte_network.h"

using namespace dlcp::test;

// Initial inputs: a bit for a hostile network and two for the cards, then the ends, the traffic,
// and the actions.
std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  dlcp::Rng rng(11);
  for (int kind = 0; kind < 8; ++kind) {
    for (std::size_t length : {20u, 60u, 160u, 300u}) {
      std::string seed(1, static_cast<char>(kind));
      while (seed.size() < length)
        seed += static_cast<char>(rng.next());
      seeds.push_back(seed);
    }
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  try {
    ByteNetwork(input).run();
  } catch (const std::exception& violation) {
    require(false, violation.what());
  }
  return 0;
}
