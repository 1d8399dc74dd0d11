// Replaces libFuzzer in builds without it: passes a fuzz target the files named on the command
// line, or, without any, the target's own seeds, mutated, and random bytes, in a fixed sequence. It
// is not a fuzzer: it makes sure that the targets compile and work. With DLCP_SEEDS=n (and
// DLCP_FIRST_SEED, or DLCP_SEED for a single one) it generates one random input from each of n
// seeds instead (scripts/seeds).
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>

#include "fuzz_input.h"
#include "util/rng.h"

namespace {

constexpr std::size_t kInputsMax = 20'000;
constexpr auto kTimeMax = std::chrono::milliseconds(1500);
constexpr std::size_t kBytesMax = 2048;

void feed(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string noise(dlcp::Rng& rng) {
  std::string input(rng.below(rng.chance(0.2) ? kBytesMax : 128), '\0');
  for (char& c : input)
    c = static_cast<char>(rng.next());
  return input;
}

std::string mutated(dlcp::Rng& rng, std::string input) {
  const std::uint64_t changes = rng.below(6);
  for (std::uint64_t i = 0; i < changes && !input.empty(); ++i) {
    const std::size_t at = rng.below(input.size());
    switch (rng.below(4)) {
      case 0:
        input[at] = static_cast<char>(rng.next());
        break;
      case 1:
        input.erase(at, 1 + rng.below(4));
        break;
      case 2:
        input.insert(at, noise(rng).substr(0, 1 + rng.below(4)));
        break;
      default:
        input[at] = static_cast<char>(rng.chance(0.5) ? 0 : 0xff);
    }
  }
  return input;
}

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

std::uint64_t current_seed = 0;

void feed_seeds(std::uint64_t first, std::uint64_t count) {
  std::signal(SIGABRT, [](int) {
    std::printf("replay with DLCP_SEED=%llu\n", static_cast<unsigned long long>(current_seed));
    std::fflush(stdout);
  });
  for (current_seed = first; current_seed < first + count; ++current_seed) {
    dlcp::Rng rng(current_seed);
    std::string input(8 + rng.below(400), '\0');
    for (char& c : input)
      c = static_cast<char>(rng.next());
    feed(input);
  }
  std::printf("%llu inputs\n", static_cast<unsigned long long>(count));
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("DLCP_SEED") != nullptr || std::getenv("DLCP_SEEDS") != nullptr) {
    const auto first = number_from_environment("DLCP_FIRST_SEED", 1);
    feed_seeds(number_from_environment("DLCP_SEED", first),
               number_from_environment("DLCP_SEEDS", 1));
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    feed({std::istreambuf_iterator<char>(file), {}});
  }
  if (argc > 1) return 0;
  std::vector<std::string> seeds;
  if (fuzz_seeds != nullptr) seeds = fuzz_seeds();
  for (const auto& seed : seeds)
    feed(seed);
  dlcp::Rng rng(1);
  const auto until = std::chrono::steady_clock::now() + kTimeMax;
  std::size_t inputs = seeds.size();
  for (; inputs < kInputsMax && std::chrono::steady_clock::now() < until; ++inputs) {
    const bool from_seed = !seeds.empty() && rng.chance(0.7);
    feed(from_seed ? mutated(rng, seeds[rng.below(seeds.size())]) : noise(rng));
  }
  std::printf("%zu inputs\n", inputs);
  return 0;
}
