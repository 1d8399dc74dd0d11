// The input is the network between two endpoints; see byte_network.h.
#include <exception>

#include "byte_network.h"

using namespace dlcp::test;

// Stories to start from: a bit for who is hostile and two for the cards, the ends, the traffic, and
// then actions.
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
